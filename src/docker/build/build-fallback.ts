// Builds by BuildKit, and by the engine's classic builder while BuildKit hangs: restarting the engine, the
// only cure, would interrupt every service. In Docker 20.10 a build that is canceled at the wrong moment
// leaves the scheduler in an endless loop that holds the lock which all builds need. Silence alone proves
// nothing, because a step may compile for an hour: a build without a new step triggers a probe.
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { pack } from 'tar-stream'
import { sleep } from '../../async/sleep.ts'
import { Failure } from '../../errors.ts'
import { buildKitFeature } from '../dockerfile/dockerfile.ts'
import type { Engine } from '../engine/client.ts'
import { upload } from '../engine/raw-requests.ts'
import { streamLines } from '../engine/stream-lines.ts'
import type { BuilderOptions, BuildRequest, ImageBuilder } from './build.ts'
import { createClassic } from './build-classic.ts'
import { createBuildKit } from './build-kit.ts'

/** A build was refused or aborted because the builder hangs. */
class BuilderHangs extends Error {
  constructor(since: string) {
    super(`the Docker engine's BuildKit has been hanging since ${since}`)
  }
}

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
}

interface BuilderWatch {
  /** Since when it hangs (ISO 8601); null while it works, as far as is known. */
  hangsSince(): string | null
  /** Runs a build by it; throws `BuilderHangs` when it hangs, once all builds by it have ended. */
  during<T>(request: BuildRequest, build: (request: BuildRequest) => Promise<T>): Promise<T>
  close(): void
}

export function openBuilderWatch(engine: Engine, options: WatchOptions): BuilderWatch {
  const { lookMs, silenceMs, probeMs } = { ...usualTimes, ...options.times }
  const builds = new Map<AbortController, Promise<unknown>>()
  const closing = new AbortController()
  let since: string | null = null
  let isWatching = false
  /** When a step began, a build succeeded, or a probe ended. */
  let aliveAt = 0

  const sawLife = () => {
    aliveAt = performance.now()
  }

  async function watch(): Promise<void> {
    isWatching = true
    sawLife()
    while (builds.size > 0 && !closing.signal.aborted) {
      await sleep(lookMs, undefined, { ref: false })
      if (performance.now() - aliveAt > silenceMs && (await isHanging())) await leave()
    }
    isWatching = false
  }

  /** False if the engine does not respond at all: an unavailable engine is a separate failure. */
  async function isHanging(): Promise<boolean> {
    const began = performance.now()
    const limit = AbortSignal.timeout(probeMs)
    const isSilent = await probeBuilder(engine, AbortSignal.any([limit, closing.signal])).then(
      () => false,
      () => limit.aborted && !closing.signal.aborted,
    )
    // On a slow host, builds progress although a probe times out.
    const hasNoLife = isSilent && aliveAt < began
    sawLife()
    return hasNoLife && (await answers(engine))
  }

  /** Resolves when a probe ends: the builder works again, or the engine restarts. */
  async function leave(): Promise<void> {
    since = new Date().toISOString()
    options.onHang(since)
    for (const build of builds.keys()) build.abort(new BuilderHangs(since))
    await probeBuilder(engine, closing.signal).catch(() => {})
    if (closing.signal.aborted) return
    options.onWorks(since)
    since = null
  }

  return {
    hangsSince: () => since,
    async during(request, build) {
      if (since !== null) throw new BuilderHangs(since)
      const abort = new AbortController()
      const signal = AbortSignal.any([request.signal, abort.signal])
      const running = build({ ...request, onStep: sawLife, signal })
      builds.set(abort, running)
      if (!isWatching) void watch()
      try {
        const built = await running
        sawLife()
        return built
      } catch (error) {
        // What the hanging builder left is killed before another one builds.
        if (error instanceof BuilderHangs) await Promise.allSettled(builds.values())
        throw error
      } finally {
        builds.delete(abort)
      }
    },
    close: () => closing.abort(),
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

/** Throws `builder_hangs` while BuildKit hangs, for a Dockerfile that needs it. */
export function createFallback(engine: Engine, options: BuilderOptions, watch: BuilderWatch): ImageBuilder {
  const buildKit = createBuildKit(engine, options)
  const classic = createClassic(engine, options, refuseNeed)
  return {
    mounts: true,
    async build(request) {
      const say = (line: string) => request.onLine('system', line, null)
      try {
        return await watch.during(request, buildKit.build)
      } catch (error) {
        if (!(error instanceof BuilderHangs)) throw error
        say(error.message)
      }
      say('building with the classic builder, without the build cache of BuildKit')
      return classic.build(request)
    },
  }
}

function refuseNeed(dockerfile: string): void {
  const need = buildKitFeature(dockerfile)
  if (need === null) return
  throw new Failure(
    'builder_hangs',
    `the Docker engine's BuildKit hangs, and the Dockerfile needs BuildKit (${need})`,
  )
}
