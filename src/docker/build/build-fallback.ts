// Builds by BuildKit, and by the engine's classic builder while BuildKit hangs: restarting the engine, the
// only cure, would interrupt every service. In Docker 20.10 a build that is canceled at the wrong moment
// leaves the scheduler in an endless loop that holds the lock which all builds need. Silence alone proves
// nothing, because a step may compile for an hour: a build without a new step triggers a probe.
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { pack } from 'tar-stream'
import { abortable } from '../../async/abortable.ts'
import { sleep } from '../../async/sleep.ts'
import { Failure } from '../../errors.ts'
import { buildKitFeature } from '../dockerfile/dockerfile.ts'
import type { Engine } from '../engine/client.ts'
import type { Owner } from '../engine/names.ts'
import { upload } from '../engine/raw-requests.ts'
import { streamLines } from '../engine/stream-lines.ts'
import { type Builder, type BuildRequest, whenBuildsIdle } from './build.ts'
import type { BuildCache } from './build-cache.ts'
import { classicDriver } from './build-classic.ts'
import type { BuildGuard } from './build-guard.ts'
import { buildKitDriver } from './build-kit.ts'

/** A build was aborted because the builder hangs. */
class BuilderHangs extends Error {}

interface WatchOptions {
  onHang(since: string): void
  onWorks(since: string): void
  times?: Partial<typeof usualTimes>
}

/** A hang is found within `silenceMs` and `probeMs`, and a look more. */
const usualTimes = {
  lookMs: 1000,
  /** How long all builds must be silent before the builder is probed, and between two probes. */
  silenceMs: 15_000,
  /** A probe takes less than a second (measured with two busy CPUs); give it time on a worse machine. */
  probeMs: 40_000,
  /** While it hangs, one probe waits for it this long. */
  recheckMs: 300_000,
}

export class BuilderWatch {
  readonly #engine: Engine
  readonly #options: WatchOptions
  readonly #times: typeof usualTimes
  /** Each with its end. */
  readonly #builds = new Map<AbortController, Promise<unknown>>()
  readonly #closing = new AbortController()
  #since: string | null = null
  #recovery: Promise<void> = Promise.resolve()
  #isWatching = false
  /** When a step began, a build succeeded, or a probe ended. */
  #aliveAt = 0

  constructor(engine: Engine, options: WatchOptions) {
    this.#engine = engine
    this.#options = options
    this.#times = { ...usualTimes, ...options.times }
  }

  /** Since when it hangs (ISO 8601); null while it works, as far as is known. */
  hangsSince(): string | null {
    return this.#since
  }

  /** Runs a build by it; throws `BuilderHangs` when it hangs, once all builds by it have ended. */
  async during<T>(request: BuildRequest, build: (request: BuildRequest) => Promise<T>): Promise<T> {
    if (this.#since !== null) throw new BuilderHangs('the builder of the engine hangs')
    const abort = new AbortController()
    const signal = AbortSignal.any([request.signal, abort.signal])
    const running = build({ ...request, onStep: () => this.#sawLife(), signal })
    this.#builds.set(abort, running)
    if (!this.#isWatching) void this.#watch()
    try {
      const built = await running
      this.#sawLife()
      return built
    } catch (error) {
      // What the hanging builder left is removed before another one builds.
      if (error instanceof BuilderHangs) await Promise.allSettled(this.#builds.values())
      throw error
    } finally {
      this.#builds.delete(abort)
    }
  }

  /** Resolves when it works; rejects with the signal. */
  waitUntilWorking(signal: AbortSignal): Promise<void> {
    return abortable(this.#recovery, signal)
  }

  close(): void {
    this.#closing.abort()
  }

  #sawLife(): void {
    this.#aliveAt = performance.now()
  }

  async #watch(): Promise<void> {
    this.#isWatching = true
    this.#sawLife()
    while (this.#since === null && this.#builds.size > 0 && !this.#closing.signal.aborted) {
      await this.#pause()
      const isSilent = performance.now() - this.#aliveAt > this.#times.silenceMs
      if (isSilent && (await this.#isHanging())) this.#hang()
    }
    this.#isWatching = false
  }

  #pause(): Promise<void> {
    return sleep(this.#times.lookMs, undefined, { ref: false })
  }

  /** False if the engine does not respond at all: an unavailable engine is a separate failure. */
  async #isHanging(): Promise<boolean> {
    const began = performance.now()
    const outcome = await this.#probe(this.#times.probeMs)
    // On a slow host, builds progress although a probe times out.
    const isSilent = outcome === 'silent' && this.#aliveAt < began
    this.#sawLife()
    return isSilent && (await answers(this.#engine))
  }

  async #probe(limitMs: number): Promise<'works' | 'silent' | 'unknown'> {
    const limit = AbortSignal.timeout(limitMs)
    try {
      await probeBuilder(this.#engine, AbortSignal.any([limit, this.#closing.signal]))
      return 'works'
    } catch {
      return limit.aborted && !this.#closing.signal.aborted ? 'silent' : 'unknown'
    }
  }

  #hang(): void {
    const since = new Date().toISOString()
    this.#since = since
    this.#recovery = this.#recover(since)
    this.#options.onHang(since)
    for (const build of this.#builds.keys()) build.abort(new BuilderHangs('the builder of the engine hangs'))
  }

  /** An aborted probe means that the engine is restarting. Never resolves after `close`. */
  async #recover(since: string): Promise<void> {
    while ((await this.#probe(this.#times.recheckMs)) !== 'works') {
      if (this.#closing.signal.aborted) return new Promise(() => {})
      await this.#pause()
    }
    this.#since = null
    this.#options.onWorks(since)
  }
}

function answers(engine: Engine): Promise<boolean> {
  return engine.ping().then(
    () => true,
    () => false,
  )
}

export const probeLabel = 'berth.probe'

/** Resolves when the build ended in any way. Only `signal` bounds it. Throws `docker_unavailable`. */
export async function probeBuilder(engine: Engine, signal: AbortSignal): Promise<void> {
  // Each probe has a unique Dockerfile, so that BuildKit does not merge it with another build.
  const body = pack()
  body.entry({ name: 'Dockerfile' }, `FROM scratch\nLABEL ${probeLabel}=${randomUUID()}\n`)
  body.finalize()
  const connections = engine.fork()
  const post = { path: '/build', query: { version: '2' }, headers: {}, body: Readable.from(body), signal }
  const build = async () => {
    for await (const _ of streamLines(await upload(connections, post))) {
      // Only its end matters.
    }
  }
  try {
    await connections.call('probe the builder', build, { signal, timeoutMs: 2 ** 31 - 1 })
    await removeImages(connections)
  } finally {
    connections.close()
  }
}

/** Also those of probes that were cut off. Another prober of the engine may be faster: that does no harm. */
async function removeImages({ call, docker }: Engine): Promise<void> {
  const filters = { dangling: ['true'], label: [probeLabel] }
  const images = await call('list images of probes', () => docker.listImages({ filters })).catch(() => [])
  for (const { Id } of images) {
    await call('remove the image of a probe', () => docker.getImage(Id).remove()).catch(() => {})
  }
}

interface FallbackOptions {
  owner: Owner
  guard: BuildGuard
  cache: BuildCache
  watch: BuilderWatch
}

/** Throws `builder_hangs` while BuildKit hangs, for a Dockerfile that needs it. */
export function createFallback(engine: Engine, { owner, guard, cache, watch }: FallbackOptions): Builder {
  const buildKit = buildKitDriver(engine, { owner, guard })
  const classic = classicDriver(engine, { owner, guard, check: refuseNeed })
  // Both builders share one `whenBuildsIdle`: a process that one kills as left over could be a step of
  // the other's build.
  const run = whenBuildsIdle(async () => {
    await buildKit.tidy()
    await classic.tidy()
  })

  async function build(request: BuildRequest): Promise<{ imageId: string }> {
    const say = (line: string) => request.onLine('system', line, null)
    if (watch.hangsSince() === null) {
      try {
        return await run(() => watch.during(request, buildKit.build))
      } catch (error) {
        if (!(error instanceof BuilderHangs)) throw error
        say("the Docker engine's BuildKit hangs: it has stopped completing builds")
      }
    } else say(`the Docker engine's BuildKit has been hanging since ${watch.hangsSince()}`)
    say('building with the classic builder, without the build cache of BuildKit')
    return run(() => classic.build(request))
  }

  return { build: (request) => cache.during(() => build(request)) }
}

function refuseNeed(dockerfile: string): void {
  const need = buildKitFeature(dockerfile)
  if (need === null) return
  throw new Failure(
    'builder_hangs',
    `the Docker engine's BuildKit hangs, and the Dockerfile needs BuildKit (${need})`,
  )
}
