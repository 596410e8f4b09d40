// Watches the engine's BuildKit during its builds and detects a permanent hang. Silence alone proves
// nothing, because a step may compile for an hour. A build without a new step therefore triggers a probe of
// the builder.

import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { pack } from 'tar-stream'
import { sleep } from '../../async/sleep.ts'
import { waitFor } from '../../async/wait-for.ts'
import type { Engine } from '../engine/client.ts'
import { upload } from '../engine/raw-requests.ts'
import { streamLines } from '../engine/stream-lines.ts'
import type { BuildRequest } from './build.ts'

/** A build was aborted because the builder hangs. */
export class BuilderHangs extends Error {}

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

interface WatchedBuild {
  steppedAt: number
  abort: AbortController
  ended: Promise<unknown>
}

export class BuilderWatch {
  readonly #engine: Engine
  readonly #options: WatchOptions
  readonly #times: typeof usualTimes
  readonly #builds = new Set<WatchedBuild>()
  readonly #waiting = new Set<() => void>()
  readonly #closing = new AbortController()
  #since: string | null = null
  #isWatching = false
  #checkedAt = 0
  /** When a build last finished on its own, successful or not. */
  #endedAt = 0

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
    const watched: WatchedBuild = { steppedAt: performance.now(), abort, ended: Promise.resolve() }
    const onStep = () => {
      watched.steppedAt = performance.now()
    }
    const running = build({ ...request, onStep, signal })
    watched.ended = running.then(
      () => this.#sawEnd(signal),
      () => this.#sawEnd(signal),
    )
    this.#builds.add(watched)
    if (!this.#isWatching) void this.#watch()
    try {
      return await running
    } catch (error) {
      if (error instanceof BuilderHangs) await Promise.all([...this.#builds].map(({ ended }) => ended))
      throw error
    } finally {
      this.#builds.delete(watched)
    }
  }

  /** Resolves when it works; rejects with the signal. */
  waitUntilWorking(signal: AbortSignal): Promise<unknown> {
    const subscribe = (listener: () => void) => {
      this.#waiting.add(listener)
      return () => void this.#waiting.delete(listener)
    }
    return waitFor(subscribe, () => (this.#since === null ? 'works' : null), signal)
  }

  close(): void {
    this.#closing.abort()
  }

  #sawEnd({ aborted }: AbortSignal): void {
    if (!aborted) this.#endedAt = performance.now()
  }

  async #watch(): Promise<void> {
    this.#isWatching = true
    while (this.#since === null && this.#builds.size > 0 && !this.#closing.signal.aborted) {
      await this.#pause()
      if (this.#isSilent() && (await this.#isHanging())) this.#hang()
    }
    this.#isWatching = false
  }

  #pause(): Promise<void> {
    return sleep(this.#times.lookMs, undefined, { ref: false })
  }

  #isSilent(): boolean {
    const limit = performance.now() - this.#times.silenceMs
    return this.#checkedAt < limit && [...this.#builds].some(({ steppedAt }) => steppedAt < limit)
  }

  /** False if the engine does not respond at all: an unavailable engine is a separate failure. */
  async #isHanging(): Promise<boolean> {
    const began = performance.now()
    const outcome = await this.#probe(this.#times.probeMs)
    this.#checkedAt = performance.now()
    // On a slow host, builds progress although a probe times out.
    const isAlive = this.#endedAt > began || [...this.#builds].some(({ steppedAt }) => steppedAt > began)
    if (outcome !== 'silent' || isAlive) return false
    return this.#engine.ping().then(
      () => true,
      () => false,
    )
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
    this.#since = new Date().toISOString()
    this.#options.onHang(this.#since)
    for (const { abort } of this.#builds) abort.abort(new BuilderHangs('the builder of the engine hangs'))
    void this.#recheck(this.#since)
  }

  /** An aborted probe means that the engine is restarting. */
  async #recheck(since: string): Promise<void> {
    while ((await this.#probe(this.#times.recheckMs)) !== 'works') {
      if (this.#closing.signal.aborted) return
      await this.#pause()
    }
    this.#since = null
    this.#options.onWorks(since)
    for (const notify of [...this.#waiting]) notify()
  }
}

// Whether the engine's BuildKit still completes builds: it can hang for good while everything else of the
// engine works. In Docker 20.10 a build that is canceled at the wrong moment leaves its scheduler in an
// endless loop that holds the lock which all builds need.

export const probeLabel = 'berth.probe'

/**
 * Builds next to nothing, and removes it. Resolves when the build ended, however it did; rejects with the
 * reason of `signal`, which alone bounds the time, and with `docker_unavailable`.
 */
export async function probeBuilder(engine: Engine, signal: AbortSignal): Promise<void> {
  const connections = engine.fork()
  try {
    await build(connections, signal)
    await removeImages(connections)
  } finally {
    connections.close()
  }
}

async function build(engine: Engine, signal: AbortSignal): Promise<void> {
  // Each probe has a unique Dockerfile, so that BuildKit does not merge it with another build.
  const archive = pack()
  archive.entry({ name: 'Dockerfile' }, `FROM scratch\nLABEL ${probeLabel}=${randomUUID()}\n`)
  archive.finalize()
  const body = Readable.from(archive)
  const post = { path: '/build', query: { version: '2' }, headers: {}, body, signal }
  const read = async () => {
    for await (const _ of streamLines(await upload(engine, post))) {
      // Only its end matters.
    }
  }
  // The signal is the bound.
  await engine.call('probe the builder', read, { signal, timeoutMs: 2 ** 31 - 1 })
}

/** Also those of probes that were cut off. Another prober of the engine may be faster: that does no harm. */
async function removeImages({ call, docker }: Engine): Promise<void> {
  const filters = { dangling: ['true'], label: [probeLabel] }
  const images = await call('list images of probes', () => docker.listImages({ filters })).catch(() => [])
  for (const { Id } of images) {
    await call('remove the image of a probe', () => docker.getImage(Id).remove()).catch(() => {})
  }
}
