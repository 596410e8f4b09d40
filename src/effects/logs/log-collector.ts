// Reads the output of instances from Docker and stores it by service, so it outlives the containers. A
// container must not be removed before `drained`, or its last lines are lost.
import { setMaxListeners } from 'node:events'
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

/** A start of an instance wakes the loop; this interval catches missed events. */
const pollIntervalMs = 10_000
const drainTimeoutMs = 5_000
/** A hanging engine must not prevent the daemon from stopping. */
const stopTimeoutMs = 2_000

export class LogCollector {
  readonly #ports: Parts
  readonly #stopping = new AbortController()
  readonly #unsubscribe: () => void
  /** What is being read, by container. */
  readonly #open = new Map<string, { instance: InstanceSummary; done: Promise<void> }>()
  /** The start of the last run that was read to its end, by container. */
  readonly #ended = new Map<string, string>()
  readonly #logs = new Map<string, Promise<CollectedLog>>()
  #lastListed: InstanceSummary[] = []
  #wake = () => {}
  #loop: Promise<void> | null = null

  constructor(ports: Parts) {
    this.#ports = ports
    // Each instance that is read listens to it.
    setMaxListeners(0, this.#stopping.signal)
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
    const open = [...this.#open.values()].map(({ done }) => done)
    await settleWithin(Promise.all([this.#loop, ...open]), stopTimeoutMs, undefined)
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
    for (const instance of instances) if (await this.#isUnread(instance)) void this.#read(instance)
    await this.#forgetRemoved(instances)
  }

  /** A stopped instance may have run again since it was read, so the start of its last run is compared. */
  async #isUnread(instance: InstanceSummary): Promise<boolean> {
    const endedAt = this.#ended.get(instance.containerId)
    return endedAt === undefined || instance.isUp || endedAt !== (await this.#runOf(instance))
  }

  /** Resolves at the end of the run, or when reading fails; the next poll then continues. Never rejects. */
  #read(instance: InstanceSummary): Promise<void> {
    const { containerId, name } = instance
    const known = this.#open.get(containerId)
    if (known) return known.done
    const done = this.#follow(instance)
      .catch((error: unknown) => this.#warn(`what ${name} writes cannot be read`, error))
      .finally(() => this.#open.delete(containerId))
    this.#open.set(containerId, { instance, done })
    return done
  }

  async #follow(instance: InstanceSummary): Promise<void> {
    const { signal } = this.#stopping
    const log = await this.#logOf(instance.serviceId)
    const lines = this.#ports.instances.follow(instance.containerId, log.cursor(instance), signal)
    for await (const line of lines) await log.append(instance, line, signal)
    const startedAt = signal.aborted ? null : await this.#runOf(instance)
    if (startedAt !== null) this.#ended.set(instance.containerId, startedAt)
  }

  async #readToEnd(name: string): Promise<void> {
    const state = await this.#ports.instances.inspect(name)
    // The output of a pre-deploy command is in the log of its deploy.
    if (state === null || state.serviceId === '' || state.index === preDeployIndex) return
    await this.#open.get(state.containerId)?.done
    if (this.#ended.get(state.containerId) !== state.startedAt)
      await this.#read({ ...state, isUp: state.state === 'running' })
    await this.#ports.storage.runtimeLogs.flush(state.serviceId)
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
    const open = [...this.#open.values()].map(({ instance }) => instance)
    const present = [...instances, ...this.#lastListed, ...open]
    this.#lastListed = instances
    const ids = new Set(present.map(({ containerId }) => containerId))
    for (const id of this.#ended.keys()) if (!ids.has(id)) this.#ended.delete(id)
    for (const [serviceId, opening] of this.#logs) {
      const log = await opening
      log.retain(present.filter((instance) => instance.serviceId === serviceId))
    }
  }

  async #saveAll(): Promise<void> {
    for (const opening of this.#logs.values()) await (await opening).save()
  }

  /** An unavailable engine is not logged: the next poll retries. */
  #warn(what: string, error: unknown): void {
    if (this.#stopping.signal.aborted || codeOf(error) === 'docker_unavailable') return
    this.#ports.logger.warn({ reason: messageOf(error) }, what)
  }
}
