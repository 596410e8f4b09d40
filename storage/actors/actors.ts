// Durable actors: the snapshot, record, index keys and history entry of a transition are written together.
// Snapshots are opaque here, and machines/ defines what a record means.
import type { StoredEvents } from '../events.ts'
import type { ServicePatch, Services } from '../services.ts'
import { StorageError } from '../store/errors.ts'
import { idTime } from '../store/ids.ts'
import { type Page, type PageRequest, paginate } from '../store/paginate.ts'
import type { Commit, Store } from '../store/store.ts'
import type { ActorFilter, ListedActor, Place } from './actor-index.ts'
import type {
  ActiveActor,
  ActorRecord,
  ActorRow,
  ParkCode,
  ParkNote,
  RecordOf,
  ToRecord,
  Transition,
} from './actor-row.ts'
import { ActorRows, type RowOptions } from './actor-rows.ts'
import type { HistoryEntry } from './history-entry.ts'

export type { ListedActor } from './actor-index.ts'
export type {
  ActiveActor,
  ActorRecord,
  ActorRow,
  CommonRecordFields,
  ParkCode,
  RecordOf,
  ToRecord,
  Transition,
} from './actor-row.ts'
export type { ActorTransition, By, HistoryEntry, NewEntry } from './history-entry.ts'

export type ParkedActor = ActiveActor & ParkNote

interface ActorOptions extends Omit<RowOptions, 'toRecord'> {
  toRecord?: ToRecord | undefined
}

interface Unparked {
  record: ActorRecord
  state: string
  service: ServicePatch | null
  /** The id of the request: a repetition of it changes nothing. */
  event: string | null
  at: string
}

interface Discard {
  status: string
  at: string
  service: ServicePatch | null
  also?: (commit: Commit) => void
}

/** Prefix of the error in the record of a parked actor. */
const parkedError = 'internal: '

/** A transaction blocks everything else while it runs, and each actor has up to 510 entries of history. */
const maxRemovedPerCommit = 50

export class Actors {
  readonly #store: Store
  readonly #services: Services
  readonly #all: ActorRows

  constructor(
    store: Store,
    services: Services,
    events: StoredEvents,
    { toRecord, ...options }: ActorOptions,
  ) {
    this.#store = store
    this.#services = services
    this.#all = new ActorRows(store, services, events, { ...options, toRecord: toRecord ?? unknownRecord })
  }

  /** Throws `row_damaged` when the snapshot fails its checksum. */
  get(id: string): ActorRow | null {
    return this.#all.rows.get(id)
  }

  /** Also null when the snapshot fails its checksum. */
  getOrNull(id: string): ActorRow | null {
    return this.#all.rows.getOrNull(id)
  }

  /** A damaged record is rebuilt from the snapshot. The kind is not checked. */
  record<Kind extends string = string>(id: string): RecordOf<Kind> | null {
    return this.#all.record(id) as RecordOf<Kind> | null
  }

  /** The actors that are neither final nor parked, optionally of one kind and one service. */
  active(kind?: string, serviceId?: string): Iterable<ActiveActor> {
    return this.#all.index.active(kind, serviceId)
  }

  /** Newest first. */
  list<Kind extends string>(kind: Kind, serviceId: string, limit: number): RecordOf<Kind>[] {
    const records = this.ids(kind, serviceId, limit).map((id) => this.record<Kind>(id))
    return records.filter((record) => record !== null)
  }

  /** One page over these owners, or all, newest first. The record of `before` may be deleted. */
  page<Kind extends string>(
    kind: Kind,
    owners: readonly string[] | undefined,
    { before, ...request }: PageRequest<RecordOf<Kind>> & { before?: string | undefined },
  ): { records: RecordOf<Kind>[]; next: string | null } {
    const found = this.#all.index.newest(kind, owners, before)
    const { records, next } = paginate(found, ({ id }) => this.record<Kind>(id), request)
    return { records, next: next?.id ?? null }
  }

  /** The newest actors of a kind, ended or not, of one owner or of all. */
  newest(kind: string, owner: string | undefined, request: PageRequest<ActiveActor>): ActiveActor[] {
    const found = this.#all.index.newest(kind, owner === undefined ? undefined : [owner])
    return paginate(found, (actor) => actor, request).records
  }

  /** One page of actors of all kinds, after a listed one. */
  survey(
    filter: ActorFilter,
    { after, ...request }: PageRequest<ListedActor> & { after?: Place | undefined },
  ): Page<ListedActor, ListedActor> {
    return paginate(this.#all.index.all(filter, after), (actor) => actor, request)
  }

  /** Also ended actors, but of those with a damaged row only unfinished ones. */
  find(id: string): ListedActor | null {
    const row = this.#all.rows.getOrNull(id)
    const { index } = this.#all
    if (row) return { id, kind: row.kind, service_id: row.service_id, group: index.groupOf(row) }
    const isIt = (actor: ActiveActor) => actor.id === id
    const parked = [...index.parked()].find(isIt)
    if (parked) return { ...parked, group: 'parked' }
    const active = [...index.active()].find(isIt)
    return active ? { ...active, group: 'active' } : null
  }

  latest<Kind extends string>(kind: Kind, serviceId: string): RecordOf<Kind> | null {
    return this.list(kind, serviceId, 1)[0] ?? null
  }

  /** Newest first. */
  ids(kind: string, serviceId: string, limit?: number): string[] {
    return this.#all.index.ids(kind, serviceId, limit)
  }

  /** The first ten and the last five hundred transitions, oldest first; at most `limit` of them. */
  history(id: string, limit?: number): HistoryEntry[] {
    return this.#all.historyOf(id, limit)
  }

  /** The newest transitions before a revision, oldest first. */
  newestHistory(id: string, limit: number, before?: number): HistoryEntry[] {
    return this.#all.newestOf(id, limit, before)
  }

  /** Throws `id_taken`, and `conflict` while its service is being deleted. */
  create(transition: Transition, also: (commit: Commit) => void = () => {}): Promise<void> {
    return this.#store.commit((commit) => {
      const { row, service } = transition
      also(commit)
      // The data of the last instances goes to the trash while their service is being deleted.
      const isLate = row.kind === 'disk-removal' || service?.deleting === true
      if (row.service_id && !isLate) this.#services.assertNotDeleting(row.service_id)
      if (this.#all.rows.get(row.id)) throw new StorageError('id_taken', `${row.id} already exists`)
      this.#all.index.add(row)
      this.#all.write(commit, transition)
    })
  }

  /** Writes a transition. Throws `revision_conflict` when it does not follow the one on disk. */
  advance(transition: Transition): Promise<void> {
    return this.#store.commit((commit) => {
      const { id, revision } = transition.row
      const stored = this.#all.rows.get(id)?.revision
      if (stored !== revision - 1) {
        throw new StorageError('revision_conflict', `${id} is at ${stored}, not ${revision - 1}`)
      }
      this.#all.write(commit, transition)
    })
  }

  countRestart(id: string, restarts: number): Promise<void> {
    return this.#store.commit(() => {
      const row = this.#all.rows.get(id)
      if (row) this.#all.writeRow({ ...row, restarts })
    })
  }

  *parked(kind?: string, serviceId?: string): Iterable<ParkedActor> {
    for (const actor of this.#all.index.parked(kind, serviceId)) yield this.withNote(actor)
  }

  /** Null for an actor that is not parked. */
  parkedOf(id: string): ParkedActor | null {
    for (const actor of this.#all.index.parked()) if (actor.id === id) return this.withNote(actor)
    return null
  }

  /** Sets an actor aside for an operator. It is not restored, and its record has the reason. */
  park(id: string, why: string, at: string, code: ParkCode = 'failed_repeatedly'): Promise<void> {
    // An error may have no message, and an actor with an empty reason would not count as parked.
    const reason = why || 'an unknown error'
    return this.#store.commit((commit) => {
      const row = this.#all.rows.getOrNull(id)
      const actor = row ?? [...this.#all.index.active()].find((active) => active.id === id)
      if (!actor) return
      if (actor.kind === 'deploy' && actor.service_id)
        this.#services.abandonDeploy(commit, actor.service_id, id)
      const revision = this.#all.revisionOf(id) + 1
      const view = { service_id: actor.service_id, ...this.#all.record(id), id, status: 'failed' }
      const failure = { error: `${parkedError}${reason}`, ...codesOf(view) }
      const record = { ...view, ...failure, finished_at: at, revision }
      this.#all.index.park(actor, { at, code, reason })
      this.#all.records.put(id, record)
      if (row) this.#all.writeRow({ ...row, revision, parked: reason })
      const entry = { at, event: 'parked', state: 'parked', status: 'failed', phase: null, by: null }
      this.#all.publish(commit, { ...actor, revision }, record, entry)
    })
  }

  /** Makes a parked actor active again. Throws `not_parked`. */
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

  /** Ends a parked actor, whose row keeps the reason. Its Docker objects stay. Throws `not_parked`. */
  discard(id: string, { status, at, service, also }: Discard): Promise<void> {
    return this.#store.commit((commit) => {
      const parked = this.parkedOf(id)
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

  /** Replaces a parked or discarded actor by a new one. Throws `not_parked`. */
  replace(transition: Transition, also: (commit: Commit) => void = () => undefined): Promise<void> {
    return this.#store.commit((commit) => {
      const { row, service } = transition
      const previous = this.#all.rows.getOrNull(row.id)
      const isDiscarded = previous?.final && previous.parked !== null
      if (!isDiscarded && !this.parkedOf(row.id)) throw notParked(row.id)
      also(commit)
      if (row.service_id && !service?.deleting) this.#services.assertNotDeleting(row.service_id)
      this.#all.index.add(row)
      this.#all.write(commit, transition)
    })
  }

  withNote(actor: ActiveActor): ParkedActor {
    const damaged = { at: null, code: 'row_damaged' as const, reason: 'the note with the reason is damaged' }
    return { ...actor, ...(this.#all.index.parkNote(actor) ?? damaged) }
  }

  /** The revision of the last transition, even if the row is damaged. */
  revisionOf(id: string): number {
    return this.#all.revisionOf(id)
  }

  /** Deletes every actor of a kind that belongs to a service. Throws `conflict` while one is active. */
  removeAll(kind: string, serviceId: string): Promise<void> {
    return this.#store.commit(() => {
      const [busy] = this.active(kind, serviceId)
      if (busy) throw new StorageError('conflict', `${busy.id} is still active`)
      for (const id of this.ids(kind, serviceId)) this.#all.erase(kind, serviceId, id)
    })
  }

  /** By default only actors without an owner; null: those of all owners. */
  async removeFinal(kind: string, createdBeforeMs: number, owner: string | null = ''): Promise<void> {
    const candidates = [...this.#all.index.listed(kind, owner)]
    await this.#removeFinal(candidates, (id) => idTime(id) < createdBeforeMs)
  }

  /** Except the newest ones and those that `isRetained` selects. Returns the deleted ids. */
  removeOlder(
    kind: string,
    owner: string,
    retained: number,
    isRetained: (id: string) => boolean = () => false,
  ): Promise<string[]> {
    const ids = this.#all.index.ids(kind, owner, undefined, retained)
    const candidates = ids.map((id) => ({ kind, service_id: owner, id }))
    return this.#removeFinal(candidates, (id) => !isRetained(id))
  }

  async #removeFinal(candidates: readonly ActiveActor[], isOver: (id: string) => boolean): Promise<string[]> {
    const isRemovable = ({ id }: ActiveActor) => isOver(id) && this.#all.rows.getOrNull(id)?.final === true
    const removable = candidates.filter(isRemovable)
    const removed: string[] = []
    for (let start = 0; start < removable.length; start += maxRemovedPerCommit) {
      await this.#store.commit(() => {
        for (const one of removable.slice(start, start + maxRemovedPerCommit).filter(isRemovable)) {
          this.#all.erase(one.kind, one.service_id ?? '', one.id)
          removed.push(one.id)
        }
      })
    }
    return removed
  }
}

function unknownRecord(): never {
  throw new StorageError('row_damaged', 'this record is damaged and cannot be rebuilt')
}

function notParked(id: string): StorageError {
  return new StorageError('not_parked', `${id} is not parked`)
}

/** Only for records that have these fields. */
function codesOf(record: object): object {
  return {
    ...('deadline_at' in record && { deadline_at: null }),
    ...('error_code' in record && { error_code: 'internal_error' }),
    ...('error_details' in record && { error_details: null }),
  }
}
