// Recovery of parked actors: resume from the snapshot, recreate from the record, or discard.
// The supervisor runs one recovery per actor at a time.
import type { AnyMachineSnapshot } from 'xstate'
import type { Kind } from '../../machines/index.ts'
import type { ActorRecord, ParkedActor } from '../../storage/actors/actors.ts'
import { codeOf, Failure, messageOf } from '../errors.ts'
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

/** Failures that are unrelated to the snapshot: the request can be retried. */
const transientCodes = ['commit_failed', 'conflict', 'not_parked']

export class Recovery {
  readonly #parts: RecoveryParts

  constructor(parts: RecoveryParts) {
    this.#parts = parts
  }

  /** The existing actor with this id: a parked one is resumed, a discarded one recreated. */
  async find(kind: string, id: string, input: object, options: SpawnOptions): Promise<Spawned> {
    const { actors } = this.#parts.storage
    const parked = actors.parkedOf(id)
    if (parked) {
      const requested = Object.keys(input).length > 0 ? input : null
      return { record: await this.#recover(id, parked.kind, requested, options), duplicate: true }
    }
    if (isDiscarded(actors.get(id))) return this.#parts.recreate(kind, id, input, options)
    return { record: actors.record(id)!, duplicate: true }
  }

  async retry(id: string, options: EventOptions): Promise<ActorRecord> {
    return this.#recover(id, this.#requireParked(id).kind, null, options)
  }

  async discard(id: string, { also }: DiscardOptions): Promise<ActorRecord> {
    const { storage, catalogue, isoNow } = this.#parts
    const { kind } = this.#requireParked(id)
    const { status = 'failed', service = null } = catalogue[kind]?.discarded ?? {}
    await storage.actors.discard(id, { status, service, at: isoNow(), ...(also ? { also } : {}) })
    return storage.actors.record(id)!
  }

  /** If the snapshot does not fit, the record may be enough for a new actor. */
  async #recover(
    id: string,
    kind: string,
    requested: object | null,
    options: SpawnOptions,
  ): Promise<ActorRecord> {
    try {
      return await this.#resume(id, options)
    } catch (error) {
      if (transientCodes.includes(codeOf(error))) throw error
      const { storage, catalogue, recreate, isoNow } = this.#parts
      const record = storage.actors.record(id) ?? {}
      const from = { record, asked: requested as Record<string, unknown> | null, at: isoNow() }
      const input = catalogue[kind]?.rebuild?.(from) ?? null
      if (input !== null) return (await recreate(kind, id, input, options)).record
      const hint = `berth discard ${id} ends it, and lists what it leaves behind`
      throw new Failure('not_recoverable', `${id} cannot resume: ${messageOf(error)}`, hint)
    }
  }

  /** Commits that the actor is active again, then starts it. */
  async #resume(id: string, { eventId }: EventOptions): Promise<ActorRecord> {
    const { storage, catalogue, assertCanResume, restore, start, isoNow } = this.#parts
    const running = restore(id)
    const snapshot = running.actor.getSnapshot() as AnyMachineSnapshot
    const kind: Kind = catalogue[running.row.kind]!
    assertCanResume?.(running.row, snapshot)
    const record = kind.toRecord(snapshot as never) as ActorRecord
    const service = kind.toService?.(snapshot as never, snapshot as never) ?? null
    const again = { record, state: pathOf(snapshot.value), service, event: eventId ?? null, at: isoNow() }
    await storage.actors.unpark(id, again)
    running.row = { ...running.row, revision: running.row.revision + 1, parked: null, restarts: 0 }
    start(running)
    return record
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
