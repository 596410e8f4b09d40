// Owns every actor: spawns, sends, restores, stops. Calls resolve after the commit.
import type { AnyEventObject } from 'xstate'
import type { KindName } from '../../machines/index.ts'
import type { ActorRecord, By, RecordOf } from '../../storage/actors/actors.ts'
import { Failure, messageOf } from '../errors.ts'
import type { OwnEnd } from '../own-end.ts'
import { ActorFactory } from './actor-factory.ts'
import { createFences } from './fences.ts'
import { createForeignReads, type ForeignReads } from './foreign-reads.ts'
import type { DiscardOptions, EventOptions, Spawned, SpawnOptions, SupervisorOptions } from './options.ts'
import { createParking, type Park } from './parking.ts'
import { createReceipts, type Receipt } from './receipts.ts'
import { Recovery } from './recovery.ts'
import { createRestartFromDisk } from './restarting.ts'
import { createRestartPolicy } from './restarts.ts'
import type { RunningActor } from './running-actor.ts'
import { parkCodeFor } from './snapshot-check.ts'

export class Supervisor {
  readonly #storage: SupervisorOptions['storage']
  readonly #fences = createFences()
  readonly #receipts = createReceipts()
  readonly #foreignReads: ForeignReads
  readonly #factory: ActorFactory
  readonly #park: Park
  readonly #restartFromDisk: ReturnType<typeof createRestartFromDisk>
  readonly #recovery: Recovery
  readonly #running = new Map<string, RunningActor>()
  readonly #spawning = new Map<string, Promise<Spawned>>()
  readonly #recovering = new Map<string, Promise<ActorRecord>>()
  readonly #halt = new AbortController()
  #isRestoring = false

  constructor({ storage, catalogue, logger, now = Date.now, onParked, assertCanResume }: SupervisorOptions) {
    this.#storage = storage
    const restarts = createRestartPolicy(now)
    const isoNow = () => new Date(now()).toISOString()
    const halt = this.#halt.signal
    const shared = { storage, logger, halt }
    this.#foreignReads = createForeignReads({ storage, now, halt })
    const forget = (id: string) => void this.#running.delete(id)
    const revive = (id: string) => this.#revive(id)
    this.#park = createParking({ ...shared, now, onParked, delayMs: restarts.delayMs, forget })
    this.#restartFromDisk = createRestartFromDisk({ ...shared, restarts, park: this.#park, revive })
    this.#factory = new ActorFactory({
      storage,
      catalogue,
      logger,
      isoNow,
      receipts: this.#receipts,
      onFinal: forget,
      foreignReads: this.#foreignReads,
      slots: { fences: this.#fences, now, halt, isRestoring: () => this.#isRestoring },
      onFailure: (running, error) => this.#restart(running, error),
    })
    this.#recovery = new Recovery({
      storage,
      catalogue,
      assertCanResume,
      isoNow,
      restore: (id) => this.#factory.restore(storage.actors.get(id)!),
      start: (running) => this.#start(running),
      recreate: (kind, id, input, options) => this.#create(kind, id, input, options, true),
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
      ? this.#recovery.find(kind, id, input, options)
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
    return this.#exclusive(id, () => this.#recovery.retry(id, options))
  }

  /** Ends a parked actor; its Docker objects stay. Throws `not_parked`. */
  discard(id: string, options: DiscardOptions = {}): Promise<ActorRecord> {
    return this.#exclusive(id, () => this.#recovery.discard(id, options))
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

  /**
   * Starts every active actor from disk. Parks those that cannot be restored, and one that ended the daemon
   * twice. `lastEnd` is how the last process ended, if it ended itself.
   */
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

  /** The actors whose effects take turns since the daemon ended itself during them. */
  suspects(): string[] {
    return this.#foreignReads.suspects()
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
    running.restarting = this.#restartFromDisk(running, error)
  }
}
