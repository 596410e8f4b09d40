// The effects of the edge: start HAProxy, apply committed changes, supervise it, and replace it with a newer
// one without a failed request.
import type { EdgeSoftware, machine } from '../../../machines/edge.ts'
import type { Effects } from '../../../machines/slot.ts'
import { sleep } from '../../async/sleep.ts'
import type { AccessMark } from '../../edge/access-events.ts'
import { type EdgeFiles, openEdgeFiles } from '../../edge/files.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { isoNow } from '../iso-now.ts'
import {
  ensureGeneration,
  followAccepting,
  type GenerationParts,
  type IdleSince,
  replaceGeneration,
  retireOldGenerations,
} from './generations.ts'
import type { EdgeRounds } from './haproxy-edge.ts'
import { containerLauncher, hostLauncher, removeEdgeContainers, stopHostProcesses } from './launcher.ts'
import type { EdgePorts } from './ports.ts'
import { watchPorts } from './public-ports.ts'
import { findConfigured, readRunning, type Software, type SoftwareParts, wantedImage } from './software.ts'

export function edgeEffects(ports: EdgePorts, parts: EdgeParts | null): Effects<typeof machine> {
  if (!parts) return { ...disabledEdgeEffects, sleepUntil, stopEdge: () => stopAll(ports) }
  const { files, rounds, opened } = parts
  const reconciler = new EdgeReconciler(ports, parts)
  return {
    async startEdge({ mode }, signal) {
      await opened
      await rounds.render()
      if (mode === 'host') await removeEdgeContainers(ports).catch(() => undefined)
      else await stopHostProcesses(files)
      return { generation: await reconciler.start(signal) }
    },

    async keepRoutes({ id }, signal) {
      await opened
      const over = new AbortController()
      void reconciler.compare(id, AbortSignal.any([signal, over.signal]))
      await reconciler.reconcile(id, signal).finally(() => over.abort())
    },

    async upgradeEdge(request, signal) {
      await opened
      await rounds.render()
      return reconciler.upgrade(request, signal)
    },

    stopEdge: () => stopAll(ports),
    sleepUntil,
  }
}

const edgeOff = async () => {
  throw new Failure('edge_off', 'there is no edge: --edge is off')
}

const disabledEdgeEffects = { startEdge: edgeOff, keepRoutes: async () => {}, upgradeEdge: edgeOff }

const sleepUntil = async ({ wakeAt }: { wakeAt: number }, signal: AbortSignal) => {
  await sleep(Math.max(0, wakeAt - Date.now()), signal)
}

/** Stops both kinds of edge, because the current mode may differ from the previous one. */
async function stopAll(ports: EdgePorts): Promise<void> {
  await stopHostProcesses(openEdgeFiles(ports.settings.dataDir))
  await removeEdgeContainers(ports)
}

export interface EdgeParts {
  files: EdgeFiles
  rounds: EdgeRounds
  mode: 'container' | 'host'
  /** --edge-image; empty for the default. */
  image: string
  docker: string
  /** Resolves when the API listens, because the edge needs its address. */
  opened: Promise<void>
}

/** Changes wake the loop; this interval catches missed notifications. */
const roundIntervalMs = 2_000
const compareIntervalMs = 24 * 60 * 60 * 1000

class EdgeReconciler {
  readonly #ports: EdgePorts
  readonly #rounds: EdgeRounds
  readonly #software: SoftwareParts
  readonly #generations: GenerationParts
  /** Only the first difference in a run of the daemon causes an upgrade; later ones are reported. */
  #mayUpgrade = true
  /** Empty after a start. */
  #reportedFailure = ''

  constructor(ports: EdgePorts, { files, rounds, mode, image, docker }: EdgeParts) {
    this.#ports = ports
    this.#rounds = rounds
    this.#software = { ports, mode, image }
    const ownImage = (signal: AbortSignal) => wantedImage(this.#software, signal)
    const launcher = mode === 'host' ? hostLauncher : containerLauncher({ ports, docker, image: ownImage })
    this.#generations = { files, rounds, launcher, logger: ports.logger }
  }

  /** Resolves with the number of the generation that accepts connections and has all routes. */
  async start(signal: AbortSignal): Promise<number> {
    try {
      const { generation } = await ensureGeneration(this.#generations, signal)
      await this.#rounds.round()
      this.#reportedFailure = ''
      return generation
    } catch (error) {
      if (!signal.aborted) this.#reportOnce(messageOf(error))
      throw error
    }
  }

  #reportOnce(reason: string): void {
    if (reason !== this.#reportedFailure) this.#ports.logger.error({ reason }, 'the edge does not start')
    this.#reportedFailure = reason
  }

  /** Resolves when another generation has taken over. Throws `edge_unavailable` if no generation serves. */
  async reconcile(id: string, signal: AbortSignal): Promise<void> {
    const { actors, logger } = this.#ports
    const current = await followAccepting(this.#generations)
    const reader = createAccessReader(this.#rounds, logger)
    const reported = { routes: '', refusals: '' }
    const idle: IdleSince = new Map()
    const ending = new AbortController()
    let watching: Promise<void> | null = null
    try {
      for (;;) {
        signal.throwIfAborted()
        const { routes, refusals, process, files, retired } = await this.#rounds.round()
        reader.follow(process, files, retired)
        // The ports are checked from here on, when HAProxy has the configuration of this daemon.
        watching ??= watchPorts(this.#ports, id, this.#rounds, AbortSignal.any([signal, ending.signal]))
        if (refusals.join() !== reported.refusals) {
          reported.refusals = refusals.join()
          if (refusals.length > 0) logger.error({ refusals }, 'certificates cannot be served')
        }
        if (JSON.stringify(routes) !== reported.routes) {
          reported.routes = JSON.stringify(routes)
          await actors.send(id, { type: 'routes.applied', at: isoNow(), routes })
        }
        if (!(await this.#tendRetired(current, idle))) return
        await this.#rounds.next(roundIntervalMs, signal)
      }
    } finally {
      ending.abort()
      await Promise.all([reader.close(), watching])
    }
  }

  /** Looks for other software now and once a day. Upgrades at the first difference. */
  async compare(id: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        await this.#compareOnce(id, signal)
      } catch (error) {
        if (signal.aborted) return
        this.#ports.logger.warn({ reason: messageOf(error) }, 'checking for a newer HAProxy failed')
      }
      await sleep(compareIntervalMs, signal).catch(() => undefined)
      if (signal.aborted) return
    }
  }

  /** Replaces the edge when another HAProxy is available, or, with `force`, always. */
  async upgrade(request: { id: string; generation: number; force: boolean }, signal: AbortSignal) {
    const { id, generation, force } = request
    const current = await ensureGeneration(this.#generations, signal)
    // The daemon ended after a newer generation had taken over: keep that one, and retire the others.
    if (current.generation > generation) return { generation: current.generation, hasReplaced: true }
    const wanted = await this.#whileReconciling(id, signal, (ending) =>
      findConfigured(this.#software, ending),
    )
    const running = await readRunning(current, this.#generations.launcher)
    if (!force && running.identity === wanted.identity) return { generation, hasReplaced: false }
    this.#ports.logger.info(
      { running: toSoftware(running), wanted: toSoftware(wanted) },
      'replacing the edge',
    )
    const next = await replaceGeneration(this.#generations, wanted.image, signal)
    return { generation: next.generation, hasReplaced: true }
  }

  async #tendRetired(current: EdgeFiles, idle: IdleSince): Promise<boolean> {
    try {
      return await retireOldGenerations(this.#generations, current, idle)
    } catch (error) {
      this.#ports.logger.warn({ reason: messageOf(error) }, 'checking a retired edge failed')
      return true
    }
  }

  async #compareOnce(id: string, signal: AbortSignal): Promise<void> {
    const { actors, logger } = this.#ports
    const current = await followAccepting(this.#generations)
    const wanted = await findConfigured(this.#software, signal)
    const running = await readRunning(current, this.#generations.launcher)
    const available = running.identity === wanted.identity ? null : toSoftware(wanted)
    const mayUpgrade = this.#mayUpgrade
    this.#mayUpgrade = false
    signal.throwIfAborted()
    const event = { software: toSoftware(running), available }
    await actors.send(id, { type: 'software.compared', at: isoNow(), ...event })
    if (!available) return
    logger.warn(event, 'another HAProxy than the running one is available')
    if (mayUpgrade) await actors.send(id, { type: 'upgrade', at: isoNow(), force: false })
  }

  /** Runs the work while the edge is reconciled. Rejects when either rejects. */
  async #whileReconciling<T>(id: string, outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>) {
    const ending = new AbortController()
    const signal = AbortSignal.any([outer, ending.signal])
    const reconciling = this.reconcile(id, signal).then((): never => {
      throw new Failure('upgrade_failed', 'another edge has taken over; this upgrade was abandoned')
    })
    try {
      return await Promise.race([work(signal), reconciling])
    } finally {
      ending.abort()
      await reconciling.catch(() => undefined)
    }
  }
}

function toSoftware({ version, image }: Software): EdgeSoftware {
  return { version, image }
}

interface AccessReader {
  /** Sets the process that serves now. The one before it and the retired ones are read until they end. */
  follow(process: string, files: EdgeFiles, retired: readonly EdgeFiles[]): void
  /** Resolves when all readers have ended. */
  close(): Promise<void>
}

const retryPauseMs = 200

/** After a reload or an upgrade the old process still finishes requests, and only it reports them. */
function createAccessReader(rounds: EdgeRounds, logger: Logger): AccessReader {
  const closing = new AbortController()
  const readings = new Set<Promise<void>>()
  const generations = new Set<number>()
  let current: string | null = null
  let newest: Promise<AccessMark | null> | null = null

  /** Retries after a failure, as long as `isWanted`. */
  async function read(files: EdgeFiles, from: Promise<AccessMark | null>, isWanted: () => boolean) {
    const { signal } = closing
    let last = await from
    while (!signal.aborted) {
      try {
        for await (const mark of rounds.readAccess(files, last, signal)) last = mark
      } catch (error) {
        if (codeOf(error) !== 'edge_unavailable') logger.warn({ err: error }, 'requests could not be read')
      }
      if (!isWanted()) return
      await sleep(retryPauseMs, signal).catch(() => undefined)
    }
  }

  function begin(files: EdgeFiles, from: Promise<AccessMark | null>, isWanted: () => boolean): void {
    generations.add(files.generation)
    const reading = read(files, from, isWanted).catch((error: unknown) =>
      logger.warn({ err: error }, 'reading requests from HAProxy failed'),
    )
    readings.add(reading)
    void reading.finally(() => readings.delete(reading))
  }

  return {
    follow(process, files, retired) {
      for (const one of retired.filter(({ generation }) => !generations.has(generation))) {
        newest ??= rounds.newestRequest()
        begin(one, newest, () => false)
      }
      if (process === current) return
      const isFirst = current === null
      current = process
      newest ??= rounds.newestRequest()
      begin(files, isFirst ? newest : Promise.resolve(null), () => process === current)
    },
    async close() {
      closing.abort()
      await Promise.all(readings)
    },
  }
}
