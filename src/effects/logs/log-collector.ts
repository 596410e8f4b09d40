// What instances write, read from Docker as long as they are there and stored by service: it outlives them.
// Mind: a container must not be removed before `drained`: its last words would go with it.
import type { Storage } from '../../../storage/index.ts'
import { settleWithin } from '../../async/settle-within.ts'
import { waitForWake } from '../../async/wait-for-wake.ts'
import { glanceAtInstances, type InstanceGlance } from '../../docker/containers/instance-summary.ts'
import { preDeployIndex } from '../../docker/engine/names.ts'
import { codeOf, messageOf } from '../../errors.ts'
import type { Host } from '../host.ts'
import { type CollectedLog, openCollectedLog } from './collected-log.ts'

type Parts = Pick<Host, 'engine' | 'owner' | 'instances' | 'instanceEvents' | 'logger'> & {
  storage: Pick<Storage, 'runtimeLogs'>
}

/** The log of one container, being read or read to an end. */
interface Reading {
  instance: InstanceGlance
  isOpen: boolean
  /** When the run began that was read to its end. */
  run: string | null
  /** Never rejects. */
  done: Promise<void>
  leaving: AbortController
}

/** Events tell at once of an instance that starts; this is for what no event told. */
const lookAgainMs = 10_000
const drainMs = 5_000
/** An engine that hangs does not keep the daemon from stopping. */
const stopMs = 2_000
const saveAfterMs = 10 * 60_000

export class LogCollector {
  readonly #host: Parts
  readonly #stopping = new AbortController()
  readonly #unsubscribe: () => void
  /** By the id of the container. */
  readonly #readings = new Map<string, Reading>()
  /** By service. */
  readonly #logs = new Map<string, Promise<CollectedLog>>()
  #seenBefore: InstanceGlance[] = []
  #nudge = () => {}
  #looking: Promise<void> | null = null
  #savedAt = Date.now()

  constructor(host: Parts) {
    this.#host = host
    this.#unsubscribe = host.instanceEvents.subscribeAll(({ action }) => {
      if (action === 'start') this.#nudge()
    })
  }

  /** Begins to read, and goes on until `stop`. Needs an engine that is ours to use. */
  start(): void {
    this.#looking ??= this.#lookOn()
  }

  /** Resolves when what a stopped container wrote is stored; after 5 s in any case. */
  async drained(name: string): Promise<void> {
    // Whatever keeps it from being read must not keep a container for ever.
    await settleWithin(
      this.#readToEnd(name).catch(() => undefined),
      drainMs,
      undefined,
    )
  }

  /** Removes the stored log of a service whose containers are gone. */
  async remove(serviceId: string): Promise<void> {
    this.#logs.delete(serviceId)
    await this.#host.storage.runtimeLogs.remove(serviceId)
  }

  /** Lets go, and notes how far it has read: the next one goes on from there. */
  async stop(): Promise<void> {
    this.#unsubscribe()
    this.#stopping.abort()
    for (const { leaving } of this.#readings.values()) leaving.abort()
    const readings = [...this.#readings.values()].map(({ done }) => done)
    await settleWithin(Promise.all([this.#looking, ...readings]), stopMs, undefined)
    await this.#saveAll().catch((error: unknown) => this.#tell('how far logs were read is not noted', error))
  }

  async #lookOn(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const nudged = waitForWake((listener) => (this.#nudge = listener), lookAgainMs, signal)
      const woken = nudged.catch(() => undefined)
      await this.#look().catch((error: unknown) => this.#tell('the logs to read are not known', error))
      await woken
    }
  }

  async #look(): Promise<void> {
    const { engine, owner } = this.#host
    const instances = (await glanceAtInstances(engine, owner, this.#stopping.signal)).filter(
      ({ serviceId }) => serviceId !== '',
    )
    for (const instance of instances) if (await this.#isUnread(instance)) this.#read(instance)
    await this.#forgetGone(instances)
    if (Date.now() - this.#savedAt > saveAfterMs) await this.#saveAll()
  }

  /** One that is down may have run, and ended, since it was read: only its start time tells. */
  async #isUnread(instance: InstanceGlance): Promise<boolean> {
    const known = this.#readings.get(instance.containerId)
    if (known === undefined) return true
    if (known.isOpen) return false
    return instance.isUp || known.run === null || known.run !== (await this.#runOf(instance))
  }

  /** Reads on, unless somebody does already. */
  #read(instance: InstanceGlance): Reading {
    const known = this.#readings.get(instance.containerId)
    if (known?.isOpen) return known
    const leaving = new AbortController()
    const done = Promise.resolve()
    const reading: Reading = { instance, isOpen: true, run: known?.run ?? null, done, leaving }
    this.#readings.set(instance.containerId, reading)
    if (this.#stopping.signal.aborted) leaving.abort()
    reading.done = this.#follow(reading)
      .catch((error: unknown) => this.#tell(`what ${instance.name} writes cannot be read`, error))
      .finally(() => {
        reading.isOpen = false
      })
    return reading
  }

  async #follow(reading: Reading): Promise<void> {
    const { instance, leaving } = reading
    const { signal } = leaving
    const log = await this.#logOf(instance.serviceId)
    const place = log.place(instance)
    for await (const line of this.#host.instances.follow(instance.containerId, place, signal)) {
      await log.keep(instance, line, signal)
    }
    if (!signal.aborted) reading.run = await this.#runOf(instance)
  }

  async #readToEnd(name: string): Promise<void> {
    const state = await this.#host.instances.inspect(name)
    // What a command before a deploy says is in the log of that deploy.
    if (state === null || state.serviceId === '' || state.index === preDeployIndex) return
    const instance = { ...state, isUp: state.state === 'running' }
    const known = this.#readings.get(state.containerId)
    await known?.done
    // It may have been started again after that, or never been seen.
    if (known === undefined || known.run !== state.startedAt) await this.#read(instance).done
    await this.#host.storage.runtimeLogs.flush(state.serviceId)
  }

  #logOf(serviceId: string): Promise<CollectedLog> {
    const known = this.#logs.get(serviceId)
    if (known) return known
    const opening = openCollectedLog(this.#host.storage.runtimeLogs, serviceId)
    this.#logs.set(serviceId, opening)
    // What cannot be read now may be readable at the next look.
    opening.catch(() => this.#logs.delete(serviceId))
    return opening
  }

  /** When it was started last; null when it is gone. */
  async #runOf({ containerId }: InstanceGlance): Promise<string | null> {
    return (await this.#host.instances.inspect(containerId))?.startedAt ?? null
  }

  /** Twice not seen: one that came while the list was made is on the next. */
  async #forgetGone(instances: InstanceGlance[]): Promise<void> {
    const open = [...this.#readings.values()].filter(({ isOpen }) => isOpen)
    const kept = [...instances, ...this.#seenBefore, ...open.map(({ instance }) => instance)]
    this.#seenBefore = instances
    const ids = new Set(kept.map(({ containerId }) => containerId))
    for (const id of this.#readings.keys()) if (!ids.has(id)) this.#readings.delete(id)
    for (const [serviceId, opening] of this.#logs) {
      const log = await opening
      log.retain(kept.filter((instance) => instance.serviceId === serviceId))
    }
  }

  async #saveAll(): Promise<void> {
    this.#savedAt = Date.now()
    for (const opening of this.#logs.values()) await (await opening).save()
  }

  /** An engine that is away is no news: the next look finds it. */
  #tell(what: string, error: unknown): void {
    if (this.#stopping.signal.aborted || codeOf(error) === 'docker_unavailable') return
    this.#host.logger.warn({ reason: messageOf(error) }, what)
  }
}
