// Keeps every actor alive: creates, commits before effects, restores, restarts after bugs, parks.
// Mind: this is the only place that calls createActor, and what it says to callers is said after the commit.
import { setTimeout as sleep } from 'node:timers/promises'
import { type AnyEventObject, type AnyStateMachine, createActor } from 'xstate'
import type { Kind, KindName } from '../../machines/index.ts'
import type { ActorRecord } from '../../storage/actors.ts'
import { StorageError } from '../../storage/errors.ts'
import type { Storage } from '../../storage/index.ts'
import { codeOf, Failure, messageOf } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { makeDurable } from './durable.ts'
import type { Entry, EventOptions, Spawned, SpawnOptions, Step } from './entry.ts'
import { createFences } from './fences.ts'
import { createReceipts, type Receipt } from './receipts.ts'
import { createRestarts } from './restarts.ts'
import { currentSnapshot, requireFit } from './revival.ts'
import { fillSlots, toError } from './slots.ts'
import { toTransition } from './transition.ts'

export interface SupervisorOptions {
  storage: Pick<Storage, 'actors' | 'events'>
  catalogue: Record<string, Kind>
  logger: Logger
  now?: () => number
  /** After an actor was parked. */
  onParked?: (id: string, reason: string) => Promise<void>
}

/** A class, because what it does is many small things around the same few tables. */
export class Supervisor {
  readonly #storage: SupervisorOptions['storage']
  readonly #catalogue: Record<string, Kind>
  readonly #logger: Logger
  readonly #now: () => number
  readonly #onParked: SupervisorOptions['onParked']
  readonly #fences = createFences()
  readonly #receipts = createReceipts()
  readonly #restarts: ReturnType<typeof createRestarts>
  readonly #machines = new Map<string, AnyStateMachine>()
  readonly #entries = new Map<string, Entry>()
  readonly #spawning = new Map<string, Promise<Spawned>>()
  readonly #halt = new AbortController()
  #isRestoring = false

  constructor({ storage, catalogue, logger, now = Date.now, onParked }: SupervisorOptions) {
    this.#storage = storage
    this.#catalogue = catalogue
    this.#logger = logger
    this.#now = now
    this.#onParked = onParked
    this.#restarts = createRestarts(now)
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
  async spawn(kind: KindName, id: string, input: object, options: SpawnOptions = {}): Promise<Spawned> {
    const underWay = this.#spawning.get(id)
    if (underWay) return { ...(await underWay), duplicate: true }
    const known = this.#storage.actors.record(id)
    const found = known ? this.#wake(id, known) : this.#create(kind, id, input, options)
    this.#spawning.set(id, found)
    return found.finally(() => this.#spawning.delete(id))
  }

  /** To one that is just made, too. `applied` is false when its chart does not take the event now. */
  async send(id: string, event: AnyEventObject, { eventId }: EventOptions = {}): Promise<Receipt> {
    const answered = eventId ? this.#storage.events.get(eventId) : null
    if (answered) return { applied: true, record: answered.body as ActorRecord }
    await this.#spawning.get(id)?.catch(() => undefined)
    await this.#entries.get(id)?.returning
    const entry = this.#entries.get(id)
    const record = this.#storage.actors.record(id)
    if (!record) throw new Failure('not_found', `there is no ${id}`)
    if (!entry || this.#halt.signal.aborted || entry.actor.getSnapshot().status !== 'active') {
      return { applied: false, record }
    }
    const receipt = this.#receipts.expect(event, eventId ?? null)
    entry.actor.send(event)
    return receipt
  }

  /** Starts every actor that is not final: the only boot there is. One that cannot be restored is parked. */
  async restore(): Promise<{ restored: number; parked: number }> {
    if (await this.#storage.actors.mendIndex())
      this.#logger.error('the index of actors was damaged and is made again from their rows')
    const active = [...this.#storage.actors.active()]
    const misfits: [id: string, reason: string][] = []
    this.#isRestoring = true
    for (const { id } of active) {
      try {
        this.#revive(id)
      } catch (error) {
        misfits.push([id, messageOf(error)])
      }
    }
    this.#isRestoring = false
    for (const [id, reason] of misfits) await this.#park(id, reason)
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
  #open(kind: string, id: string, given: { input: object } | { snapshot: unknown }): Entry {
    const entry = { kind, tail: Promise.resolve(), broken: false, returning: null } as unknown as Entry
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

  /** A parked actor tries again, if it can be restored; asked for many times at once, it does so once. */
  async #wake(id: string, record: ActorRecord): Promise<Spawned> {
    const row = this.#storage.actors.get(id)
    if (row?.parked) {
      this.#revive(id, { ...row, parked: null, restarts: 0 })
      await this.#storage.actors.unpark(id)
    }
    return { record, duplicate: true }
  }

  async #create(kind: string, id: string, input: object, options: SpawnOptions): Promise<Spawned> {
    const entry = this.#open(kind, id, { input })
    const next = entry.actor.getSnapshot()
    if (next.status === 'error') throw new Failure('internal_error', messageOf(next.error))
    const row = { id, kind, revision: 1, restarts: 0 }
    const event = { type: 'xstate.init' }
    const move = { row, before: null, next, event, eventId: options.eventId ?? null, at: this.#isoNow() }
    const transition = toTransition(this.#catalogue[kind]!, this.#machines.get(kind)!, move)
    await this.#storage.actors.create(transition, options.also)
    entry.row = transition.row
    this.#entries.set(id, entry)
    if (!this.#halt.signal.aborted) entry.actor.start()
    return { record: transition.record, duplicate: false }
  }

  /** Appends a transition to the actor's chain of commits; its effects run when it is durable. */
  #commit(entry: Entry, machine: AnyStateMachine, step: Step, act: () => void): void {
    const eventId = this.#receipts.eventIdOf(step.event)
    const row = { ...entry.row, revision: entry.row.revision + 1 }
    const move = { ...step, eventId, at: this.#isoNow(), row }
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

  #revive(id: string, row = this.#storage.actors.get(id)): void {
    if (!row || row.final || row.parked) return void this.#entries.delete(id)
    const kind = this.#catalogue[row.kind]
    if (!kind) throw new Error(`nobody knows the kind ${row.kind}`)
    const entry = this.#open(row.kind, id, { snapshot: currentSnapshot(row, kind) })
    requireFit(row, entry.actor.getSnapshot())
    entry.row = row
    this.#entries.set(id, entry)
    entry.actor.start()
  }

  /** Stops an actor after a bug or a failed commit, waits, and goes on from disk. */
  async #restart(id: string, entry: Entry, error: unknown): Promise<void> {
    if (this.#halt.signal.aborted || entry.returning || this.#entries.get(id) !== entry) return
    entry.broken = true
    entry.returning = this.#comeBack(id, entry, error).catch((failure) => this.#park(id, messageOf(failure)))
    await entry.returning
  }

  async #comeBack(id: string, entry: Entry, error: unknown): Promise<void> {
    // A store that cannot write is no fault of the actor: it waits longer and longer, and is never parked.
    const isStoreFailure = codeOf(error) === 'commit_failed'
    const count = isStoreFailure
      ? this.#restarts.next(`store of ${id}`)
      : this.#restarts.next(id, entry.row.restarts)
    this.#logger.error({ err: error, actor: id, restarts: count }, 'an actor is started again from disk')
    await null // called from inside a transition: the actor stops after it
    entry.actor.stop()
    await entry.tail
    if (!isStoreFailure && this.#restarts.isTooMany(count)) return this.#park(id, messageOf(error))
    await this.#pause(this.#restarts.delayMs(count))
    if (this.#halt.signal.aborted) return
    if (!isStoreFailure) await this.#storage.actors.countRestart(id, count).catch(() => undefined)
    this.#revive(id)
  }

  /** Keeps an actor for an operator: its record shows `failed`, what it made is left as it is. */
  async #park(id: string, reason: string): Promise<void> {
    this.#logger.error({ actor: id, reason }, 'an actor is parked')
    for (let tries = 1; !this.#halt.signal.aborted; tries++) {
      try {
        await this.#storage.actors.park(id, reason, this.#isoNow())
        this.#entries.delete(id)
        return await this.#onParked?.(id, reason)
      } catch (err) {
        this.#logger.error({ err, actor: id }, 'an actor could not be marked as parked')
        await this.#pause(this.#restarts.delayMs(tries))
      }
    }
  }

  /** Ends early, and quietly, when the supervisor stops. */
  async #pause(durationMs: number): Promise<void> {
    await sleep(durationMs, undefined, { signal: this.#halt.signal }).catch(() => undefined)
  }

  #isoNow(): string {
    return new Date(this.#now()).toISOString()
  }
}
