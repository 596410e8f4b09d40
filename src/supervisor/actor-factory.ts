// Creates actors whose transitions are committed before their effects run. The only caller of createActor.
import {
  type AnyActor,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type EventObject,
} from 'xstate'
import { eventName } from '../../machines/graph.ts'
import type { ActorRow, RecordOf, Transition } from '../../storage/actors/actors.ts'
import { StorageError } from '../../storage/store/errors.ts'
import { Failure, messageOf } from '../errors.ts'
import { makeDurable } from './durable.ts'
import type { ForeignReads } from './foreign-reads.ts'
import type { Inspection, Microstep } from './inspection.ts'
import type { SupervisorOptions } from './options.ts'
import { fillSlots, type SlotOptions, toError } from './slots.ts'
import {
  assertRestored,
  currentSnapshot,
  type PlannedTransition,
  pathOf,
  type Step,
  toTransition,
} from './transition.ts'

interface FactoryParts extends Pick<SupervisorOptions, 'storage' | 'catalogue' | 'logger'> {
  receipts: Receipts
  isoNow(): string
  /** For the slots of every kind. */
  slots: Omit<SlotOptions, 'onBug' | 'onEffect' | 'cleanups' | 'held' | 'readers'>
  foreignReads: ForeignReads
  inspection: Inspection
  onFailure(running: RunningActor, error: unknown): void
  onFinal(id: string): void
}

export class ActorFactory {
  readonly #parts: FactoryParts
  readonly #machines = new Map<string, AnyStateMachine>()

  constructor(parts: FactoryParts) {
    this.#parts = parts
  }

  provide(effects: Record<string, object>): void {
    const { catalogue, logger, slots, storage, foreignReads: reads, inspection, isoNow } = this.#parts
    const onBug = (slot: string, actor: string, err: unknown) =>
      logger.error({ err, actor, slot }, 'an effect failed with an internal error')
    for (const [name, kind] of Object.entries(catalogue)) {
      const held = { slots: kind.held ?? [], hold: storage.hold }
      const readers = { slots: kind.readers ?? [], reads }
      const onEffect: SlotOptions['onEffect'] = (id, effect) =>
        inspection.report?.({ type: 'effect', at: isoNow(), id, kind: name, effect })
      const options = { ...slots, onBug, onEffect, cleanups: kind.cleanups ?? [], held, readers }
      this.#machines.set(name, fillSlots(kind.machine, effects[name] ?? {}, options))
    }
  }

  /** A new actor, and the transition that must be committed before the actor starts. */
  create(
    origin: PlannedTransition['row'],
    input: object,
    eventId: string | null,
  ): { running: RunningActor; transition: Transition } {
    const { catalogue, isoNow } = this.#parts
    const empty = { service_id: null, version: 0, snapshot: null, final: false, parked: null }
    const running = this.#open({ ...origin, ...empty }, { input })
    const next = running.actor.getSnapshot()
    if (next.status === 'error') throw new Failure('internal_error', messageOf(next.error))
    const move = { row: origin, before: null, next, event: creation, eventId, at: isoNow() }
    const transition = toTransition(catalogue[origin.kind]!, this.#machines.get(origin.kind)!, move)
    running.row = transition.row
    return { running, transition }
  }

  /** Creates an actor from its stored snapshot, without starting it. Throws if the snapshot does not fit. */
  restore(row: ActorRow): RunningActor {
    const kind = this.#parts.catalogue[row.kind]
    if (!kind) throw new Error(`unknown actor kind ${row.kind}`)
    const running = this.#open(row, { snapshot: currentSnapshot(row, kind) })
    assertRestored(row, running.actor.getSnapshot())
    return running
  }

  /** The actor runs no effect until it is started. */
  #open(row: ActorRow, given: { input: object } | { snapshot: unknown }): RunningActor {
    const { storage, logger, receipts, inspection, onFailure: failed } = this.#parts
    const machine = makeDurable(this.#machines.get(row.kind)!, {
      isWatched: () => inspection.report !== null,
      transitioned: (before, next, event, act, microsteps) =>
        this.#commit(running, machine, { before, next, event, microsteps }, act),
      // Settled after the preceding commits, so that the record shows why the event was ignored.
      ignored: (event) => {
        this.#reportNotTaken(running, 'ignored', event)
        const settle = () =>
          receipts.settle(event, { applied: false, record: storage.actors.record(row.id)! })
        void running.tail.then(settle).catch((error: unknown) => receipts.fail(event, error))
      },
      rejected: (event, err) => {
        logger.error({ err, actor: row.id, event: event.type }, 'an event was rejected')
        this.#reportNotTaken(running, 'rejected', event)
        receipts.fail(event, new Failure('internal_error', messageOf(err)))
      },
      failed: (event, error) => {
        this.#reportNotTaken(running, 'rejected', event)
        receipts.fail(event, new Failure('internal_error', messageOf(error)))
        failed(running, toError(error))
      },
    })
    const actor = createActor(machine, { id: row.id, ...(given as { input: never }) })
    // The journal's `failed` handles errors. XState rethrows errors without an observer.
    actor.subscribe({ error: () => undefined })
    const running: RunningActor = { actor, row, tail: Promise.resolve(), broken: false, restarting: null }
    return running
  }

  /** Appends a transition to the actor's chain of commits. Its effects run once it is durable. */
  #commit(running: RunningActor, machine: AnyStateMachine, step: InspectedStep, act: () => void): void {
    const { storage, catalogue, receipts, isoNow, onFailure: failed, onFinal: ended } = this.#parts
    const row = { ...running.row, revision: running.row.revision + 1 }
    const move = { ...step, eventId: receipts.eventIdOf(step.event), at: isoNow(), row }
    const transition = toTransition(catalogue[row.kind]!, machine, move)
    running.row = transition.row
    running.tail = running.tail.then(async () => {
      try {
        if (running.broken) {
          throw new StorageError('commit_failed', 'an earlier transition could not be saved')
        }
        await storage.actors.advance(transition)
        this.#reportTransition(transition, step)
        receipts.settle(step.event, { applied: true, record: transition.record })
        if (transition.row.final) ended(row.id)
        act()
      } catch (error) {
        receipts.fail(step.event, error)
        failed(running, error)
      }
    })
  }

  /** After the commit of a new actor. */
  reportCreation(transition: Transition): void {
    this.#reportTransition(transition, { before: null, event: creation, microsteps: [] })
  }

  #reportTransition({ row, entry }: Transition, step: Omit<InspectedStep, 'next'>): void {
    const { before, event, microsteps } = step
    this.#parts.inspection.report?.({
      type: 'transition',
      at: entry.at,
      id: row.id,
      kind: row.kind,
      event: entry.event,
      eventType: event.type,
      from: before && pathOf(before.value),
      to: entry.state,
      value: (row.snapshot as AnyMachineSnapshot).value,
      isFinal: row.final,
      microsteps,
    })
  }

  #reportNotTaken({ row, actor }: RunningActor, type: 'ignored' | 'rejected', event: EventObject): void {
    const { inspection, isoNow } = this.#parts
    inspection.report?.({
      type,
      at: isoNow(),
      id: row.id,
      kind: row.kind,
      event: eventName(event.type),
      eventType: event.type,
      from: pathOf(actor.getSnapshot().value),
    })
  }
}

const creation = { type: 'xstate.init' }

interface InspectedStep extends Step {
  microsteps: Microstep[]
}

export interface RunningActor {
  actor: AnyActor
  row: ActorRow
  /** The chain of the actor's commits. After a failed one, later ones and their effects are dropped. */
  tail: Promise<void>
  broken: boolean
  /** Settles when the actor runs again, or is parked. */
  restarting: Promise<void> | null
}

// Receipts report the outcome of an event to its sender, after the commit.

export interface Receipt<Kind extends string = string> {
  applied: boolean
  record: RecordOf<Kind>
}

interface Waiting {
  eventId: string | null
  resolve: (receipt: Receipt) => void
  reject: (error: unknown) => void
}

type Receipts = ReturnType<typeof createReceipts>

/** Keyed by the event object itself, which XState passes through unchanged. */
export function createReceipts() {
  const waiting = new Map<EventObject, Waiting>()

  function take(event: EventObject): Waiting | undefined {
    const waiter = waiting.get(event)
    waiting.delete(event)
    return waiter
  }

  return {
    expect: (event: EventObject, eventId: string | null) =>
      new Promise<Receipt>((resolve, reject) => waiting.set(event, { eventId, resolve, reject })),
    eventIdOf: (event: EventObject): string | null => waiting.get(event)?.eventId ?? null,
    settle: (event: EventObject, receipt: Receipt) => take(event)?.resolve(receipt),
    fail: (event: EventObject, error: unknown) => take(event)?.reject(error),
    failAll(error: unknown): void {
      for (const event of [...waiting.keys()]) take(event)?.reject(error)
    },
  }
}
