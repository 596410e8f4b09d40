// Keeps every actor alive: creates, commits before effects, restores, restarts after bugs, parks.
// Mind: this is the only place that calls createActor, and what it says to callers is said after the commit.
import { type AnyEventObject, type AnyStateMachine, createActor } from 'xstate'
import type { KindName } from '../../machines/index.ts'
import type { ActorRecord, ActorRow, RecordOf } from '../../storage/actors.ts'
import { StorageError } from '../../storage/errors.ts'
import { Failure, messageOf } from '../errors.ts'
import { makeDurable } from './durable.ts'
import { createFences } from './fences.ts'
import type { DiscardOptions, EventOptions, Spawned, SpawnOptions, SupervisorOptions } from './options.ts'
import { createReceipts, type Receipt } from './receipts.ts'
import { misfitCode, Recovery } from './recovery.ts'
import { createReturns } from './returns.ts'
import { currentSnapshot, requireFit } from './revival.ts'
import type { RunningActor } from './running-actor.ts'
import { fillSlots, toError } from './slots.ts'
import { type Step, toTransition } from './transition.ts'

/** A class, because what it does is many small things around the same few tables. */
export class Supervisor {
  readonly #storage: SupervisorOptions['storage']
  readonly #catalogue: SupervisorOptions['catalogue']
  readonly #logger: SupervisorOptions['logger']
  readonly #now: () => number
  readonly #fences = createFences()
  readonly #receipts = createReceipts()
  readonly #returns: ReturnType<typeof createReturns>
  readonly #recovery: Recovery
  readonly #machines = new Map<string, AnyStateMachine>()
  readonly #entries = new Map<string, RunningActor>()
  readonly #spawning = new Map<string, Promise<Spawned>>()
  readonly #recovering = new Map<string, Promise<ActorRecord>>()
  readonly #halt = new AbortController()
  #isRestoring = false

  constructor({ storage, catalogue, logger, now = Date.now, onParked, mayGoOn }: SupervisorOptions) {
    this.#storage = storage
    this.#catalogue = catalogue
    this.#logger = logger
    this.#now = now
    this.#returns = createReturns({
      ...{ storage, logger, now, halt: this.#halt.signal, onParked },
      revive: (id) => this.#revive(id),
      forget: (id) => void this.#entries.delete(id),
    })
    this.#recovery = new Recovery({
      ...{ storage, catalogue, mayGoOn },
      restored: (id) => this.#restored(this.#storage.actors.get(id)!),
      begin: (id, entry) => this.#begin(id, entry),
      remake: (kind, id, input, options) => this.#create(kind, id, input, options, true),
      isoNow: () => this.#isoNow(),
    })
  }

  /** Fills the slots of every kind; the effects may hold the supervisor, so they come after it. */
  provide(effects: Record<string, object>): void {
    const onBug = (slot: string, actor: string, err: unknown) =>
      this.#logger.error({ err, actor, slot }, 'an effect failed for a reason of ours')
    const options = { fences: this.#fences, now: this.#now, onBug, halt: this.#halt.signal }
    for (const [name, kind] of Object.entries(this.#catalogue)) {
      const own = { ...options, cleanups: kind.cleanups ?? [], isRestoring: () => this.#isRestoring }
      this.#machines.set(name, fillSlots(kind.machine, effects[name] ?? {}, own))
    }
  }

  /** Makes and starts an actor; a known id answers the existing one's, and a parked one tries again. */
  async spawn<Kind extends KindName>(
    kind: Kind,
    id: string,
    input: object,
    options: SpawnOptions = {},
  ): Promise<Spawned<Kind>> {
    while (this.#recovering.has(id)) await this.#recovering.get(id)?.catch(() => undefined)
    const underWay = this.#spawning.get(id)
    if (underWay) return { ...((await underWay) as Spawned<Kind>), duplicate: true }
    const found = this.#storage.actors.record(id)
      ? this.#recovery.find(kind, id, input, options)
      : this.#create(kind, id, input, options)
    this.#spawning.set(id, found)
    return found.finally(() => this.#spawning.delete(id)) as Promise<Spawned<Kind>>
  }

  /** A parked actor goes on. Throws `not_parked`, `not_recoverable`, `conflict`. */
  retry(id: string, options: EventOptions = {}): Promise<ActorRecord> {
    return this.#alone(id, () => this.#recovery.retry(id, options))
  }

  /** A parked actor ends; what it made in Docker stays. Throws `not_parked`. */
  discard(id: string, options: DiscardOptions = {}): Promise<ActorRecord> {
    return this.#alone(id, () => this.#recovery.discard(id, options))
  }

  /** To one that is just made, too. `applied` is false when its chart does not take the event now. */
  async send<Kind extends string = string>(
    id: string,
    event: AnyEventObject,
    { eventId }: EventOptions = {},
  ): Promise<Receipt<Kind>> {
    const answered = eventId ? this.#storage.events.get(eventId) : null
    if (answered) return { applied: true, record: answered.body as RecordOf<Kind> }
    await this.#spawning.get(id)?.catch(() => undefined)
    await this.#recovering.get(id)?.catch(() => undefined)
    await this.#entries.get(id)?.restarting
    const entry = this.#entries.get(id)
    const record = this.#storage.actors.record<Kind>(id)
    if (!record) throw new Failure('not_found', `there is no ${id}`)
    if (!entry || this.#halt.signal.aborted || entry.actor.getSnapshot().status !== 'active') {
      return { applied: false, record }
    }
    const receipt = this.#receipts.expect(event, eventId ?? null)
    entry.actor.send(event)
    return receipt as Promise<Receipt<Kind>>
  }

  /** Starts every actor that is not final: the only boot there is. One that cannot be restored is parked. */
  async restore(): Promise<{ restored: number; parked: number }> {
    if (await this.#storage.actors.mendIndex())
      this.#logger.error('the index of actors was damaged and is made again from their rows')
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
    for (const [id, error] of misfits) await this.#returns.park(id, messageOf(error), misfitCode(error))
    return { restored: active.length - misfits.length, parked: misfits.length }
  }

  /** Stops every actor; nothing of that is persisted. Waits, within a bound, for what is under way. */
  async stop(timeoutMs = 10_000): Promise<void> {
    this.#halt.abort()
    const running = [...this.#entries.values()]
    for (const entry of running) entry.actor.stop()
    await Promise.all([...running.map((entry) => entry.tail), this.#fences.settled(timeoutMs)])
    this.#receipts.failAll(new Failure('unavailable', 'the daemon is stopping'))
  }

  /** Makes the actor without starting it: until then it runs no effect. */
  #open(kind: string, id: string, given: { input: object } | { snapshot: unknown }): RunningActor {
    const entry = {
      kind,
      tail: Promise.resolve(),
      broken: false,
      restarting: null,
    } as unknown as RunningActor
    const machine = makeDurable(this.#machines.get(kind)!, {
      moved: (before, next, event, act) => this.#commit(entry, machine, { before, next, event }, act),
      // Said after the commits that came before it, so that the record it goes with explains it.
      ignored: (event) => {
        const settle = () =>
          this.#receipts.settle(event, { applied: false, record: this.#storage.actors.record(id)! })
        void entry.tail.then(settle).catch((error: unknown) => this.#receipts.fail(event, error))
      },
      rejected: (event, err) => {
        this.#logger.error({ err, actor: id, event: event.type }, 'an event was rejected')
        this.#receipts.fail(event, new Failure('internal_error', messageOf(err)))
      },
      failed: (event, error) => {
        this.#receipts.fail(event, new Failure('internal_error', messageOf(error)))
        void this.#restart(id, entry, toError(error))
      },
    })
    entry.actor = createActor(machine, { id, ...(given as { input: never }) })
    entry.actor.subscribe({ error: () => undefined }) // told through `failed`; unheard it would be thrown
    return entry
  }

  /** Two operators of one actor come one after the other. */
  async #alone(id: string, work: () => Promise<ActorRecord>): Promise<ActorRecord> {
    const underWay = () => this.#spawning.get(id) ?? this.#recovering.get(id)
    while (underWay()) await underWay()?.catch(() => undefined)
    const done = work()
    this.#recovering.set(id, done)
    return done.finally(() => this.#recovering.delete(id))
  }

  /** `isAgain`: in place of a parked or discarded one, whose history goes on. */
  async #create(kind: string, id: string, input: object, options: SpawnOptions, isAgain = false) {
    const entry = this.#open(kind, id, { input })
    const next = entry.actor.getSnapshot()
    if (next.status === 'error') throw new Failure('internal_error', messageOf(next.error))
    const revision = isAgain ? this.#storage.actors.revisionOf(id) + 1 : 1
    const row = { id, kind, revision, restarts: 0, by: options.by ?? null }
    const event = { type: 'xstate.init' }
    const move = { row, before: null, next, event, eventId: options.eventId ?? null, at: this.#isoNow() }
    const transition = toTransition(this.#catalogue[kind]!, this.#machines.get(kind)!, move)
    if (isAgain) await this.#storage.actors.replace(transition, options.also)
    else await this.#storage.actors.create(transition, options.also)
    entry.row = transition.row
    this.#begin(id, entry)
    return { record: transition.record, duplicate: false }
  }

  /** Appends a transition to the actor's chain of commits; its effects run when it is durable. */
  #commit(entry: RunningActor, machine: AnyStateMachine, step: Step, act: () => void): void {
    const row = { ...entry.row, revision: entry.row.revision + 1 }
    const move = { ...step, eventId: this.#receipts.eventIdOf(step.event), at: this.#isoNow(), row }
    const transition = toTransition(this.#catalogue[entry.kind]!, machine, move)
    entry.row = transition.row
    entry.tail = entry.tail.then(async () => {
      try {
        if (entry.broken) throw new StorageError('commit_failed', 'an earlier transition could not be saved')
        await this.#storage.actors.advance(transition)
        this.#receipts.settle(step.event, { applied: true, record: transition.record })
        if (transition.row.final) this.#entries.delete(transition.row.id)
        act()
      } catch (error) {
        this.#receipts.fail(step.event, error)
        void this.#restart(entry.row.id, entry, error)
      }
    })
  }

  #revive(id: string): void {
    const row = this.#storage.actors.get(id)
    if (!row || row.final || row.parked) return void this.#entries.delete(id)
    this.#begin(id, this.#restored(row))
  }

  #restored(row: ActorRow): RunningActor {
    const kind = this.#catalogue[row.kind]
    if (!kind) throw new Error(`nobody knows the kind ${row.kind}`)
    const entry = this.#open(row.kind, row.id, { snapshot: currentSnapshot(row, kind) })
    requireFit(row, entry.actor.getSnapshot())
    entry.row = row
    return entry
  }

  #begin(id: string, entry: RunningActor): void {
    this.#entries.set(id, entry)
    if (!this.#halt.signal.aborted) entry.actor.start()
  }

  /** Stops an actor after a bug or a failed commit, waits, and goes on from disk. */
  async #restart(id: string, entry: RunningActor, error: unknown): Promise<void> {
    if (this.#halt.signal.aborted || entry.restarting || this.#entries.get(id) !== entry) return
    entry.broken = true
    entry.restarting = this.#returns.comeBack(id, entry, error)
    await entry.restarting
  }

  #isoNow(): string {
    return new Date(this.#now()).toISOString()
  }
}
