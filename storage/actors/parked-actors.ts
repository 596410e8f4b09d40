// Actors that wait for an operator, who resumes, discards or replaces them.
// They are found through the index, because the row of a parked actor may be damaged.
import type { ServicePatch, Services } from '../services.ts'
import { StorageError } from '../store/errors.ts'
import type { Commit, Store } from '../store/store.ts'
import type { ActiveActor, ActorRecord, ActorRow, ParkCode, ParkNote, Transition } from './actor-row.ts'
import { type ActorRows, announce } from './actor-rows.ts'

export type ParkedActor = ActiveActor & ParkNote

export interface Unparked {
  record: ActorRecord
  state: string
  service: ServicePatch | null
  /** The id of the request: a repetition of it changes nothing. */
  event: string | null
  at: string
}

export interface Discard {
  status: string
  at: string
  service: ServicePatch | null
  also?: (commit: Commit) => void
}

/** Prefix of the error in the record of a parked actor. */
const parkedError = 'internal: '

export class ParkedActors {
  readonly #store: Store
  readonly #services: Services
  readonly #all: ActorRows

  constructor(store: Store, services: Services, all: ActorRows) {
    this.#store = store
    this.#services = services
    this.#all = all
  }

  *list(kind?: string, serviceId?: string): Iterable<ParkedActor> {
    for (const actor of this.#all.index.parked(kind, serviceId)) yield this.#withNote(actor)
  }

  find(id: string): ParkedActor | null {
    for (const actor of this.#all.index.parked()) if (actor.id === id) return this.#withNote(actor)
    return null
  }

  park(id: string, why: string, at: string, code: ParkCode = 'failed_repeatedly'): Promise<void> {
    // An error may have no message, and an actor with an empty reason would not count as parked.
    const reason = why || 'an unknown error'
    return this.#store.commit((commit) => {
      const row = this.#all.rows.getOrNull(id)
      const actor = row ?? [...this.#all.index.active()].find((active) => active.id === id)
      if (!actor) return
      if (actor.kind === 'deploy' && actor.service_id)
        this.#services.abandonDeploy(commit, actor.service_id, id)
      const revision = (row?.revision ?? 0) + 1
      const view = { service_id: actor.service_id, ...this.#all.record(id), id, status: 'failed' }
      const failure = { error: `${parkedError}${reason}`, ...codesOf(view) }
      const record = { ...view, ...failure, finished_at: at, revision }
      this.#all.index.park(actor, { at, code, reason })
      this.#all.records.put(id, record)
      if (row) {
        const entry = { at, event: 'parked', state: 'parked', status: 'failed', phase: null, by: null }
        this.#all.writeHistory(id, revision, entry)
        this.#all.writeRow({ ...row, revision, parked: reason })
      }
      announce(commit, { ...actor, revision }, record)
    })
  }

  unpark(id: string, { record, state, service, event, at }: Unparked): Promise<void> {
    return this.#store.commit((commit) => {
      const row = this.#all.rows.get(id)
      if (!row?.parked || row.final) throw notParked(id)
      const next = { ...row, revision: row.revision + 1, parked: null, restarts: 0 }
      const phase = (record.phase as string | null | undefined) ?? null
      const entry = { at, event: 'retried', state, status: record.status, phase, by: null }
      this.#all.write(commit, { row: next, record, entry, service, event })
    })
  }

  /** The row keeps the reason for parking. The actor's Docker objects stay. */
  discard(id: string, { status, at, service, also }: Discard): Promise<void> {
    return this.#store.commit((commit) => {
      const parked = this.find(id)
      if (!parked) throw notParked(id)
      const { kind, service_id, reason } = parked
      const stored: ActorRow | null = this.#all.rows.getOrNull(id)
      const empty = { id, kind, service_id, version: 0, snapshot: null, restarts: 0 }
      const revision = this.#all.revisionOf(id) + 1
      const row = { ...(stored ?? empty), revision, final: true, parked: reason }
      const parkedRecord = { service_id, ...this.#all.record(id), id, status, phase: null }
      const record = { ...parkedRecord, error: `discarded: ${reason}`, finished_at: at }
      const entry = { at, event: 'discarded', state: 'discarded', status, phase: null, by: null }
      this.#all.write(commit, { row, record, entry, service, event: null })
      also?.(commit)
    })
  }

  replace(transition: Transition, also: (commit: Commit) => void = () => undefined): Promise<void> {
    return this.#store.commit((commit) => {
      const { row, service } = transition
      const previous = this.#all.rows.getOrNull(row.id)
      const isDiscarded = previous?.final && previous.parked !== null
      if (!isDiscarded && !this.find(row.id)) throw notParked(row.id)
      also(commit)
      if (row.service_id && !service?.deleting) this.#services.assertNotDeleting(row.service_id)
      this.#all.index.add(row)
      this.#all.write(commit, transition)
    })
  }

  #withNote(actor: ActiveActor): ParkedActor {
    const damaged = { at: null, code: 'row_damaged' as const, reason: 'the note with the reason is damaged' }
    return { ...actor, ...(this.#all.index.parkNote(actor) ?? damaged) }
  }
}

function notParked(id: string): StorageError {
  return new StorageError('not_parked', `${id} is not parked`)
}

/** Only for records that have these fields. */
function codesOf(record: object): object {
  return {
    ...('error_code' in record && { error_code: 'internal_error' }),
    ...('error_details' in record && { error_details: null }),
  }
}
