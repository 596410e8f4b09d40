// Recovery of parked actors: resume from the snapshot, or discard. The supervisor runs one recovery per actor
// at a time.
import type { AnyMachineSnapshot } from 'xstate'
import type { Kind } from '../../machines/index.ts'
import type { ActorRecord, ParkedActor } from '../../storage/actors/actors.ts'
import { Failure, messageOf } from '../errors.ts'
import type { DiscardOptions, EventOptions, Spawned, SpawnOptions, SupervisorOptions } from './options.ts'
import type { RunningActor } from './running-actor.ts'
import { pathOf } from './transition.ts'

export interface RecoveryParts extends Pick<SupervisorOptions, 'storage' | 'catalogue'> {
  assertCanResume: SupervisorOptions['assertCanResume']
  /** Creates an actor from the snapshot on disk, without starting it. Throws if the snapshot does not fit. */
  restore(id: string): RunningActor
  /** Starts the actor and registers it as running. */
  start(running: RunningActor): void
  /** Creates and starts a new actor in place of the existing one. */
  recreate(kind: string, id: string, input: object, options: SpawnOptions): Promise<Spawned>
  isoNow(): string
}

export class Recovery {
  readonly #parts: RecoveryParts

  constructor(parts: RecoveryParts) {
    this.#parts = parts
  }

  /** The existing actor with this id: a parked one is resumed, a discarded one recreated. */
  async find(kind: string, id: string, input: object, options: SpawnOptions): Promise<Spawned> {
    const { actors } = this.#parts.storage
    if (actors.parkedOf(id)) return { record: await this.#resume(id, options), duplicate: true }
    if (isDiscarded(actors.get(id))) return this.#parts.recreate(kind, id, input, options)
    return { record: actors.record(id)!, duplicate: true }
  }

  async retry(id: string, options: EventOptions): Promise<ActorRecord> {
    this.#requireParked(id)
    return this.#resume(id, options)
  }

  async discard(id: string, { also }: DiscardOptions): Promise<ActorRecord> {
    const { storage, catalogue, isoNow } = this.#parts
    const { kind } = this.#requireParked(id)
    const { status = 'failed', service = null } = catalogue[kind]?.discarded ?? {}
    await storage.actors.discard(id, { status, service, at: isoNow(), ...(also ? { also } : {}) })
    return storage.actors.record(id)!
  }

  /** Commits that the actor is active again, then starts it. */
  async #resume(id: string, { eventId }: EventOptions): Promise<ActorRecord> {
    const { storage, catalogue, assertCanResume, start, isoNow } = this.#parts
    const { running, record } = this.#restore(id)
    const snapshot = running.actor.getSnapshot() as AnyMachineSnapshot
    const kind: Kind = catalogue[running.row.kind]!
    assertCanResume?.(running.row, snapshot)
    const service = kind.toService?.(snapshot as never, snapshot as never) ?? null
    const again = { record, state: pathOf(snapshot.value), service, event: eventId ?? null, at: isoNow() }
    await storage.actors.unpark(id, again)
    running.row = { ...running.row, revision: running.row.revision + 1, parked: null, restarts: 0 }
    start(running)
    return record
  }

  /** Throws `not_recoverable` when the stored state cannot be used. */
  #restore(id: string): { running: RunningActor; record: ActorRecord } {
    const { catalogue, restore } = this.#parts
    try {
      const running = restore(id)
      const snapshot = running.actor.getSnapshot()
      return { running, record: catalogue[running.row.kind]!.toRecord(snapshot as never) as ActorRecord }
    } catch (error) {
      const hint = `berth discard ${id} ends it, and lists what it leaves behind`
      throw new Failure('not_recoverable', `${id} cannot resume: ${messageOf(error)}`, hint)
    }
  }

  #requireParked(id: string): ParkedActor {
    const { actors } = this.#parts.storage
    const parked = actors.parkedOf(id)
    if (parked) return parked
    if (actors.record(id)) throw new Failure('not_parked', `${id} is not parked`)
    throw new Failure('not_found', `there is no actor '${id}'`)
  }
}

function isDiscarded(row: { final: boolean; parked: string | null } | null): boolean {
  return Boolean(row?.final && row.parked !== null)
}
