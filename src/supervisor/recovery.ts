// What an operator does to a parked actor: it goes on from its snapshot, is made anew from its record, or
// ends.
// One at a time for each actor: the supervisor sees to that.
import type { AnyMachineSnapshot } from 'xstate'
import type { Kind } from '../../machines/index.ts'
import type { ActorRecord, ParkedActor } from '../../storage/actors/actors.ts'
import { codeOf, Failure, messageOf } from '../errors.ts'
import type { DiscardOptions, EventOptions, Spawned, SpawnOptions, SupervisorOptions } from './options.ts'
import type { RunningActor } from './running-actor.ts'
import { pathOf } from './transition.ts'

export interface RecoveryParts extends Pick<SupervisorOptions, 'storage' | 'catalogue'> {
  assertCanResume: SupervisorOptions['assertCanResume']
  /** An actor from the snapshot on disk, not started. Throws when it does not fit. */
  restored(id: string): RunningActor
  /** Starts it and keeps it. */
  begin(running: RunningActor): void
  /** Makes and starts a new one in place of the one that is there. */
  remake(kind: string, id: string, input: object, options: SpawnOptions): Promise<Spawned>
  isoNow(): string
}

/** Codes that say nothing of the snapshot: the actor can be asked for again. */
const passing = ['commit_failed', 'conflict', 'not_parked']

export class Recovery {
  readonly #parts: RecoveryParts

  constructor(parts: RecoveryParts) {
    this.#parts = parts
  }

  /** Whoever asks for an id gets its actor: a parked one goes on, a discarded one is made anew. */
  async find(kind: string, id: string, input: object, options: SpawnOptions): Promise<Spawned> {
    const { actors } = this.#parts.storage
    const parked = actors.parkedOf(id)
    if (parked) {
      const asked = Object.keys(input).length > 0 ? input : null
      return { record: await this.#recover(id, parked.kind, asked, options), duplicate: true }
    }
    if (isDiscarded(actors.get(id))) return this.#parts.remake(kind, id, input, options)
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

  /** Where the snapshot is of no use, its record may be enough for a new actor. */
  async #recover(
    id: string,
    kind: string,
    asked: object | null,
    options: SpawnOptions,
  ): Promise<ActorRecord> {
    try {
      return await this.#goOn(id, options)
    } catch (error) {
      if (passing.includes(codeOf(error))) throw error
      const { storage, catalogue, remake, isoNow } = this.#parts
      const record = storage.actors.record(id) ?? {}
      const from = { record, asked: asked as Record<string, unknown> | null, at: isoNow() }
      const input = catalogue[kind]?.rebuild?.(from) ?? null
      if (input !== null) return (await remake(kind, id, input, options)).record
      const hint = `berth discard ${id} ends it, and lists what it leaves behind`
      throw new Failure('not_recoverable', `${id} cannot go on: ${messageOf(error)}`, hint)
    }
  }

  /** Commits that it goes on, then starts it. */
  async #goOn(id: string, { eventId }: EventOptions): Promise<ActorRecord> {
    const { storage, catalogue, assertCanResume, restored, begin, isoNow } = this.#parts
    const running = restored(id)
    const snapshot = running.actor.getSnapshot() as AnyMachineSnapshot
    const kind: Kind = catalogue[running.row.kind]!
    assertCanResume?.(running.row, snapshot)
    const record = kind.toRecord(snapshot as never) as ActorRecord
    const service = kind.toService?.(snapshot as never, snapshot as never) ?? null
    const again = { record, state: pathOf(snapshot.value), service, event: eventId ?? null, at: isoNow() }
    await storage.actors.unpark(id, again)
    running.row = { ...running.row, revision: running.row.revision + 1, parked: null, restarts: 0 }
    begin(running)
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
