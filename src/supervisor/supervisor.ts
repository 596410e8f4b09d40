// Owns every actor: spawns, sends, restores, parks, recovers, stops. Calls resolve after the commit.
import type { AnyEventObject, AnyMachineSnapshot } from 'xstate'
import type { KindName } from '../../machines/index.ts'
import type { ActorRecord, By, ParkCode, ParkedActor, RecordOf } from '../../storage/actors/actors.ts'
import { sleep } from '../async/sleep.ts'
import { codeOf, Failure, messageOf } from '../errors.ts'
import type { OwnEnd } from '../own-end.ts'
import { ActorFactory, createReceipts, type Receipt, type RunningActor } from './actor-factory.ts'
import { createFences } from './fences.ts'
import { createForeignReads, type ForeignReads } from './foreign-reads.ts'
import { Inspection, type Report, type RunningView, viewsOf } from './inspection.ts'
import type { DiscardOptions, EventOptions, Spawned, SpawnOptions, SupervisorOptions } from './options.ts'
import { createRestartPolicy } from './restarts.ts'
import { parkCodeFor, pathOf } from './transition.ts'

export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #storage: SupervisorOptions['storage']
  readonly #isoNow: () => string
  readonly #restarts: ReturnType<typeof createRestartPolicy>
  readonly #fences = createFences()
  readonly #receipts = createReceipts()
  readonly #inspection = new Inspection()
  readonly #foreignReads: ForeignReads
  readonly #factory: ActorFactory
  readonly #running = new Map<string, RunningActor>()
  readonly #spawning = new Map<string, Promise<Spawned>>()
  readonly #recovering = new Map<string, Promise<ActorRecord>>()
  readonly #halt = new AbortController()
  #isRestoring = false

  constructor(options: SupervisorOptions) {
    const { storage, catalogue, logger, now = Date.now } = options
    this.#options = options
    this.#storage = storage
    this.#isoNow = () => new Date(now()).toISOString()
    this.#restarts = createRestartPolicy(now)
    const halt = this.#halt.signal
    this.#foreignReads = createForeignReads({ storage, now, halt })
    this.#factory = new ActorFactory({
      storage,
      catalogue,
      logger,
      isoNow: this.#isoNow,
      receipts: this.#receipts,
      onFinal: (id) => void this.#running.delete(id),
      foreignReads: this.#foreignReads,
      inspection: this.#inspection,
      slots: { fences: this.#fences, now, halt, isRestoring: () => this.#isRestoring },
      onFailure: (running, error) => this.#restart(running, error),
    })
  }

  /** Fills the slots of every kind. Separate from the constructor, because effects may use the supervisor. */
  provide(effects: Record<string, object>): void {
    this.#factory.provide(effects)
  }

  /** Creates and starts an actor. A known id returns the existing record; a parked actor is resumed. */
  async spawn<Kind extends KindName>(
    kind: Kind,
    id: string,
    input: object,
    options: SpawnOptions = {},
  ): Promise<Spawned<Kind>> {
    while (this.#recovering.has(id)) await this.#recovering.get(id)?.catch(() => undefined)
    const pending = this.#spawning.get(id)
    if (pending) return { ...((await pending) as Spawned<Kind>), duplicate: true }
    const found = this.#storage.actors.record(id)
      ? this.#recover(kind, id, input, options)
      : this.#create(kind, id, input, options)
    this.#spawning.set(id, found)
    return found.finally(() => this.#spawning.delete(id)) as Promise<Spawned<Kind>>
  }

  /** The record that `spawn` would commit. It commits nothing. */
  preview<Kind extends KindName>(kind: Kind, id: string, input: object, { by }: { by: By }): RecordOf<Kind> {
    const origin = { id, kind, revision: 1, restarts: 0, by }
    return this.#factory.create(origin, input, null).transition.record as RecordOf<Kind>
  }

  /** Resumes a parked actor. Throws `not_parked`, `not_recoverable`, `conflict`. */
  retry(id: string, options: EventOptions = {}): Promise<ActorRecord> {
    return this.#exclusive(id, () => {
      this.#requireParked(id)
      return this.#resume(id, options)
    })
  }

  /** Ends a parked actor; its Docker objects stay. Throws `not_parked`. */
  discard(id: string, { also }: DiscardOptions = {}): Promise<ActorRecord> {
    return this.#exclusive(id, async () => {
      const { kind } = this.#requireParked(id)
      const { status = 'failed', service = null } = this.#options.catalogue[kind]?.discarded ?? {}
      const change = { status, service, at: this.#isoNow(), ...(also ? { also } : {}) }
      await this.#storage.actors.discard(id, change)
      return this.#storage.actors.record(id)!
    })
  }

  /** Waits for an actor that is being created. `applied` is false when the chart ignores the event now. */
  async send<Kind extends string = string>(
    id: string,
    event: AnyEventObject,
    { eventId }: EventOptions = {},
  ): Promise<Receipt<Kind>> {
    const stored = eventId ? this.#storage.events.get(eventId) : null
    if (stored) return { applied: true, record: stored.body as RecordOf<Kind> }
    await this.#spawning.get(id)?.catch(() => undefined)
    await this.#recovering.get(id)?.catch(() => undefined)
    await this.#running.get(id)?.restarting
    const running = this.#running.get(id)
    const record = this.#storage.actors.record<Kind>(id)
    if (!record) throw new Failure('not_found', `there is no ${id}`)
    if (!running || this.#halt.signal.aborted || running.actor.getSnapshot().status !== 'active') {
      return { applied: false, record }
    }
    const receipt = this.#receipts.expect(event, eventId ?? null)
    running.actor.send(event)
    return receipt as Promise<Receipt<Kind>>
  }

  /** Parks what cannot be restored or ended the daemon twice. `lastEnd`: how the daemon ended itself. */
  async restore(lastEnd: OwnEnd | null = null): Promise<{ restored: number; parked: number }> {
    const culprits = await this.#foreignReads.countEnd(lastEnd)
    for (const { id, reason } of culprits) await this.#park(id, reason, 'ended_server')
    const active = [...this.#storage.actors.active()]
    const misfits: [id: string, error: unknown][] = []
    this.#isRestoring = true
    for (const { id } of active) {
      try {
        this.#revive(id)
      } catch (error) {
        misfits.push([id, error])
      }
    }
    this.#isRestoring = false
    for (const [id, error] of misfits) await this.#park(id, messageOf(error), parkCodeFor(error))
    return { restored: active.length - misfits.length, parked: misfits.length + culprits.length }
  }

  suspects(): string[] {
    return this.#foreignReads.suspects()
  }

  /** Reports what happens from now on, until the returned function is called. */
  inspect(report: Report): () => void {
    return this.#inspection.add(report)
  }

  running(): AsyncIterable<RunningView> {
    return viewsOf(this.#running.values())
  }

  /** Stops every actor without persisting that. Waits at most `timeoutMs` for running effects. */
  async stop(timeoutMs = 10_000): Promise<void> {
    this.#halt.abort()
    const all = [...this.#running.values()]
    for (const { actor } of all) actor.stop()
    await Promise.all([...all.map(({ tail }) => tail), this.#fences.settled(timeoutMs)])
    this.#receipts.failAll(new Failure('unavailable', 'the daemon is stopping'))
  }

  /** Serializes the recoveries of one actor. */
  async #exclusive(id: string, work: () => Promise<ActorRecord>): Promise<ActorRecord> {
    const pending = () => this.#spawning.get(id) ?? this.#recovering.get(id)
    while (pending()) await pending()?.catch(() => undefined)
    const done = work()
    this.#recovering.set(id, done)
    return done.finally(() => this.#recovering.delete(id))
  }

  /** With `replaces`, the actor replaces a parked or discarded one and continues its history. */
  async #create(kind: string, id: string, input: object, options: SpawnOptions, replaces = false) {
    const { actors } = this.#storage
    const revision = replaces ? actors.revisionOf(id) + 1 : 1
    const origin = { id, kind, revision, restarts: 0, by: options.by ?? null }
    const { running, transition } = this.#factory.create(origin, input, options.eventId ?? null)
    if (replaces) await actors.replace(transition, options.also)
    else await actors.create(transition, options.also)
    this.#factory.reportCreation(transition)
    this.#start(running)
    return { record: transition.record, duplicate: false }
  }

  /** Starts an actor from disk. Throws when its snapshot does not fit. */
  #revive(id: string): void {
    const row = this.#storage.actors.get(id)
    if (!row || row.final || row.parked) this.#running.delete(id)
    else this.#start(this.#factory.restore(row))
  }

  #start(running: RunningActor): void {
    this.#running.set(running.row.id, running)
    if (!this.#halt.signal.aborted) running.actor.start()
  }

  /** Called after a bug or a failed commit. Further failures of the same actor are ignored. */
  #restart(running: RunningActor, error: unknown): void {
    const isCurrent = this.#running.get(running.row.id) === running
    if (this.#halt.signal.aborted || running.restarting || !isCurrent) return
    running.broken = true
    running.restarting = this.#restartFromDisk(running, error).catch((failure) =>
      this.#park(running.row.id, messageOf(failure), parkCodeFor(failure)),
    )
  }

  /** Settles when the actor runs again, or is parked because it fails too often. */
  async #restartFromDisk(running: RunningActor, error: unknown): Promise<void> {
    const { id } = running.row
    const restarts = this.#restarts
    // A store that cannot write is not the actor's fault: it retries with backoff and is never parked.
    const isStoreFailure = codeOf(error) === 'commit_failed'
    const count = isStoreFailure ? restarts.next(`store of ${id}`) : restarts.next(id, running.row.restarts)
    this.#options.logger.error({ err: error, actor: id, restarts: count }, 'restarting an actor from disk')
    await null // The caller may be inside a transition: the actor stops after it.
    running.actor.stop()
    await running.tail
    if (!isStoreFailure && restarts.isTooMany(count))
      return this.#park(id, messageOf(error), 'failed_repeatedly')
    await sleep(restarts.delayMs(count), this.#halt.signal).catch(() => undefined)
    if (this.#halt.signal.aborted) return
    if (!isStoreFailure) await this.#storage.actors.countRestart(id, count).catch(() => undefined)
    this.#revive(id)
  }

  /** Its record shows `failed`, and its Docker objects stay. Retries while the store cannot write. */
  async #park(id: string, reason: string, code: ParkCode): Promise<void> {
    const { logger, onParked } = this.#options
    logger.error({ actor: id, reason }, 'an actor is parked')
    for (let tries = 1; !this.#halt.signal.aborted; tries++) {
      try {
        await this.#storage.actors.park(id, reason, this.#isoNow(), code)
        this.#running.delete(id)
        return await onParked?.(id, reason)
      } catch (err) {
        logger.error({ err, actor: id }, 'failed to mark an actor as parked')
        await sleep(this.#restarts.delayMs(tries), this.#halt.signal).catch(() => undefined)
      }
    }
  }

  /** The existing actor with this id: a parked one is resumed, a discarded one recreated. */
  async #recover(kind: string, id: string, input: object, options: SpawnOptions): Promise<Spawned> {
    const { actors } = this.#storage
    if (actors.parkedOf(id)) return { record: await this.#resume(id, options), duplicate: true }
    const row = actors.get(id)
    const isDiscarded = row?.final && row.parked !== null
    if (isDiscarded) return this.#create(kind, id, input, options, true)
    return { record: actors.record(id)!, duplicate: true }
  }

  /** Commits that the actor is active again, then starts it. */
  async #resume(id: string, { eventId }: EventOptions): Promise<ActorRecord> {
    const { running, record } = this.#restoreParked(id)
    const snapshot = running.actor.getSnapshot() as AnyMachineSnapshot
    this.#options.assertCanResume?.(running.row, snapshot)
    const { toService } = this.#options.catalogue[running.row.kind]!
    const service = toService?.(snapshot as never, snapshot as never) ?? null
    const state = pathOf(snapshot.value)
    await this.#storage.actors.unpark(id, {
      record,
      state,
      service,
      event: eventId ?? null,
      at: this.#isoNow(),
    })
    running.row = { ...running.row, revision: running.row.revision + 1, parked: null, restarts: 0 }
    this.#start(running)
    return record
  }

  /** Throws `not_recoverable` when the stored state cannot be used. */
  #restoreParked(id: string): { running: RunningActor; record: ActorRecord } {
    try {
      const running = this.#factory.restore(this.#storage.actors.get(id)!)
      const { toRecord } = this.#options.catalogue[running.row.kind]!
      return { running, record: toRecord(running.actor.getSnapshot() as never) as ActorRecord }
    } catch (error) {
      const hint = `berth discard ${id} ends it, and lists what it leaves behind`
      throw new Failure('not_recoverable', `${id} cannot resume: ${messageOf(error)}`, hint)
    }
  }

  #requireParked(id: string): ParkedActor {
    const { actors } = this.#storage
    const parked = actors.parkedOf(id)
    if (parked) return parked
    if (actors.record(id)) throw new Failure('not_parked', `${id} is not parked`)
    throw new Failure('not_found', `there is no actor '${id}'`)
  }
}
