// Reads the output of instances from Docker and stores it by service, so it outlives the containers. A
// container must not be removed before `drained`, or its last lines are lost.
import type { Storage } from '../../../storage/index.ts'
import { settleWithin } from '../../async/settle-within.ts'
import { waitForWake } from '../../async/wait-for-wake.ts'
import type { Instances } from '../../docker/containers/instances.ts'
import { type InstanceSummary, summarizeInstances } from '../../docker/containers/instances.ts'
import { preDeployIndex } from '../../docker/engine/names.ts'
import { codeOf, messageOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import type { InstanceEvents } from '../engine/instance-events.ts'
import type { EnginePorts } from '../engine/ports.ts'
import { type CollectedLog, openCollectedLog } from './collected-log.ts'

interface Parts extends Pick<EnginePorts, 'engine' | 'owner'> {
  instances: Instances
  instanceEvents: InstanceEvents
  logger: Logger
  storage: Pick<Storage, 'runtimeLogs'>
}

/** The log of one container. A container without a reading was never read. */
type Reading = { instance: InstanceSummary } & (
  | /** Lines are being read until the run ends or `controller` aborts. `done` never rejects. */
  { mode: 'open'; done: Promise<void>; controller: AbortController }
  /** The run that began at `startedAt` was read to its end. */
  | { mode: 'ended'; startedAt: string }
  /** Reading failed or was aborted. It continues at the next poll. */
  | { mode: 'interrupted' }
)
type OpenReading = Extract<Reading, { mode: 'open' }>

/** A start of an instance wakes the loop; this interval catches missed events. */
const pollIntervalMs = 10_000
const drainTimeoutMs = 5_000
/** A hanging engine must not prevent the daemon from stopping. */
const stopTimeoutMs = 2_000
const saveIntervalMs = 10 * 60_000

const interrupted = { mode: 'interrupted' } as const

export class LogCollector {
  readonly #ports: Parts
  readonly #stopping = new AbortController()
  readonly #unsubscribe: () => void
  readonly #readings = new Map<string, Reading>()
  readonly #logs = new Map<string, Promise<CollectedLog>>()
  #lastListed: InstanceSummary[] = []
  #wake = () => {}
  #loop: Promise<void> | null = null
  #savedAt = Date.now()

  constructor(ports: Parts) {
    this.#ports = ports
    this.#unsubscribe = ports.instanceEvents.subscribeAll(({ action }) => {
      if (action === 'start') this.#wake()
    })
  }

  /** Reads until `stop`. Needs an engine whose objects belong to this server. */
  start(): void {
    this.#loop ??= this.#run()
  }

  /** Resolves when the output of a stopped container is stored; after 5 s in any case. */
  async drained(name: string): Promise<void> {
    // A container whose output cannot be read must still be removed.
    await settleWithin(
      this.#readToEnd(name).catch(() => undefined),
      drainTimeoutMs,
      undefined,
    )
  }

  /** Removes the stored log of a service whose containers are gone. */
  async remove(serviceId: string): Promise<void> {
    this.#logs.delete(serviceId)
    await this.#ports.storage.runtimeLogs.remove(serviceId)
  }

  /** Stops reading and stores the read positions, where the next collector continues. */
  async stop(): Promise<void> {
    this.#unsubscribe()
    this.#stopping.abort()
    const open = this.#openReadings()
    for (const { controller } of open) controller.abort()
    await settleWithin(Promise.all([this.#loop, ...open.map(({ done }) => done)]), stopTimeoutMs, undefined)
    await this.#saveAll().catch((error: unknown) => this.#warn('log positions could not be saved', error))
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const waited = waitForWake((listener) => (this.#wake = listener), pollIntervalMs, signal)
      const woken = waited.catch(() => undefined)
      await this.#poll().catch((error: unknown) => this.#warn('the logs to read are not known', error))
      await woken
    }
  }

  async #poll(): Promise<void> {
    const { engine, owner } = this.#ports
    const instances = (await summarizeInstances(engine, owner, this.#stopping.signal)).filter(
      ({ serviceId }) => serviceId !== '',
    )
    for (const instance of instances) if (await this.#isUnread(instance)) this.#read(instance)
    await this.#forgetRemoved(instances)
    if (Date.now() - this.#savedAt > saveIntervalMs) await this.#saveAll()
  }

  /** A stopped instance may have run again since it was read, so the start of its last run is compared. */
  async #isUnread(instance: InstanceSummary): Promise<boolean> {
    const known = this.#readings.get(instance.containerId)
    if (known?.mode === 'open') return false
    if (known?.mode !== 'ended' || instance.isUp) return true
    return known.startedAt !== (await this.#runOf(instance))
  }

  /** Continues reading, unless the log is being read already. */
  #read(instance: InstanceSummary): OpenReading {
    const known = this.#readings.get(instance.containerId)
    if (known?.mode === 'open') return known
    const controller = new AbortController()
    if (this.#stopping.signal.aborted) controller.abort()
    const done = this.#follow(instance, controller.signal)
      .catch((error: unknown) => {
        this.#warn(`what ${instance.name} writes cannot be read`, error)
        return null
      })
      .then((startedAt) => {
        const end = startedAt === null ? interrupted : ({ mode: 'ended', startedAt } as const)
        this.#readings.set(instance.containerId, { instance, ...end })
      })
    const reading: OpenReading = { instance, mode: 'open', done, controller }
    this.#readings.set(instance.containerId, reading)
    return reading
  }

  /** Returns when the run that was read to its end had started; null if its end was not reached. */
  async #follow(instance: InstanceSummary, signal: AbortSignal): Promise<string | null> {
    const log = await this.#logOf(instance.serviceId)
    const cursor = log.cursor(instance)
    for await (const line of this.#ports.instances.follow(instance.containerId, cursor, signal)) {
      await log.append(instance, line, signal)
    }
    return signal.aborted ? null : this.#runOf(instance)
  }

  async #readToEnd(name: string): Promise<void> {
    const state = await this.#ports.instances.inspect(name)
    // The output of a pre-deploy command is in the log of its deploy.
    if (state === null || state.serviceId === '' || state.index === preDeployIndex) return
    const instance = { ...state, isUp: state.state === 'running' }
    const previous = this.#readings.get(state.containerId)
    if (previous?.mode === 'open') await previous.done
    const known = this.#readings.get(state.containerId)
    const isRead = known?.mode === 'ended' && known.startedAt === state.startedAt
    if (!isRead) await this.#read(instance).done
    await this.#ports.storage.runtimeLogs.flush(state.serviceId)
  }

  #openReadings(): OpenReading[] {
    return [...this.#readings.values()].filter((reading) => reading.mode === 'open')
  }

  #logOf(serviceId: string): Promise<CollectedLog> {
    const known = this.#logs.get(serviceId)
    if (known) return known
    const opening = openCollectedLog(this.#ports.storage.runtimeLogs, serviceId)
    this.#logs.set(serviceId, opening)
    // An unreadable log is opened again at the next poll.
    opening.catch(() => this.#logs.delete(serviceId))
    return opening
  }

  /** The start of its last run; null if the container no longer exists. */
  async #runOf({ containerId }: InstanceSummary): Promise<string | null> {
    return (await this.#ports.instances.inspect(containerId))?.startedAt ?? null
  }

  /** Forgets a container that was missing twice: one created during the listing is on the next list. */
  async #forgetRemoved(instances: InstanceSummary[]): Promise<void> {
    const open = this.#openReadings().map(({ instance }) => instance)
    const present = [...instances, ...this.#lastListed, ...open]
    this.#lastListed = instances
    const ids = new Set(present.map(({ containerId }) => containerId))
    for (const id of this.#readings.keys()) if (!ids.has(id)) this.#readings.delete(id)
    for (const [serviceId, opening] of this.#logs) {
      const log = await opening
      log.retain(present.filter((instance) => instance.serviceId === serviceId))
    }
  }

  async #saveAll(): Promise<void> {
    this.#savedAt = Date.now()
    for (const opening of this.#logs.values()) await (await opening).save()
  }

  /** An unavailable engine is not logged: the next poll retries. */
  #warn(what: string, error: unknown): void {
    if (this.#stopping.signal.aborted || codeOf(error) === 'docker_unavailable') return
    this.#ports.logger.warn({ reason: messageOf(error) }, what)
  }
}
