// Durable actors: the snapshot, record, index keys and history entry of a transition are written together.
// Snapshots are opaque here, and machines/ defines what a record means.
import type { StoredEvents } from '../events.ts'
import type { Services } from '../services.ts'
import { StorageError } from '../store/errors.ts'
import { idTime } from '../store/ids.ts'
import type { Commit, Store } from '../store/store.ts'
import type {
  ActiveActor,
  ActorRow,
  HistoryEntry,
  ParkCode,
  RecordOf,
  ToRecord,
  Transition,
} from './actor-row.ts'
import { ActorRows } from './actor-rows.ts'
import { type Discard, type ParkedActor, ParkedActors, type Unparked } from './parked-actors.ts'

export type {
  ActiveActor,
  ActorRecord,
  ActorRow,
  By,
  CommonRecordFields,
  HistoryEntry,
  ParkCode,
  RecordOf,
  ToRecord,
  Transition,
} from './actor-row.ts'
export type { ParkedActor } from './parked-actors.ts'

/** A transaction blocks everything else while it runs, and each actor has up to 510 entries of history. */
const maxRemovedPerCommit = 50

export class Actors {
  readonly #store: Store
  readonly #services: Services
  readonly #all: ActorRows
  readonly #parking: ParkedActors

  constructor(store: Store, services: Services, events: StoredEvents, toRecord: ToRecord = unknownRecord) {
    this.#store = store
    this.#services = services
    this.#all = new ActorRows(store, services, events, toRecord)
    this.#parking = new ParkedActors(store, services, this.#all)
  }

  /** Throws `row_damaged` when the snapshot fails its checksum. */
  get(id: string): ActorRow | null {
    return this.#all.rows.get(id)
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

  /** One page over several services, newest first. */
  page<Kind extends string>(
    kind: Kind,
    serviceIds: readonly string[],
    request: PageRequest<RecordOf<Kind>>,
  ): Page<RecordOf<Kind>> {
    return paginate(
      this.#all.index.newest(kind, serviceIds, request.before),
      (id) => this.record<Kind>(id),
      request,
    )
  }

  latest<Kind extends string>(kind: Kind, serviceId: string): RecordOf<Kind> | null {
    return this.list(kind, serviceId, 1)[0] ?? null
  }

  /** Newest first. */
  ids(kind: string, serviceId: string, limit?: number): string[] {
    return this.#all.index.ids(kind, serviceId, limit)
  }

  /** The first ten and the last five hundred transitions, oldest first. */
  history(id: string): HistoryEntry[] {
    return this.#all.historyOf(id)
  }

  /**
   * Writes the first snapshot, and `also` in the same transaction. Throws `id_taken` when the actor exists
   * (callers check first), and `conflict` when its service is being deleted.
   */
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

  /** Counts a restart that the supervisor decided on. */
  countRestart(id: string, restarts: number): Promise<void> {
    return this.#store.commit(() => {
      const row = this.#all.rows.get(id)
      if (row) this.#all.writeRow({ ...row, restarts })
    })
  }

  /** Sets an actor aside for an operator. It is not restored, and its record has the reason. */
  park(id: string, reason: string, at: string, code?: ParkCode): Promise<void> {
    return this.#parking.park(id, reason, at, code)
  }

  /** Makes a parked actor active again. Throws `not_parked`. */
  unpark(id: string, unparked: Unparked): Promise<void> {
    return this.#parking.unpark(id, unparked)
  }

  /** Ends a parked actor. Its Docker objects stay. Throws `not_parked`. */
  discard(id: string, discard: Discard): Promise<void> {
    return this.#parking.discard(id, discard)
  }

  /** Replaces a parked or discarded actor by a new one. Throws `not_parked`. */
  replace(transition: Transition, also?: (commit: Commit) => void): Promise<void> {
    return this.#parking.replace(transition, also)
  }

  /** The parked actors, optionally of one kind and one service. */
  parked(kind?: string, serviceId?: string): Iterable<ParkedActor> {
    return this.#parking.list(kind, serviceId)
  }

  /** Null for an actor that is not parked. */
  parkedOf(id: string): ParkedActor | null {
    return this.#parking.find(id)
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

  /**
   * Deletes the final actors of a kind that were created before `createdBeforeMs`. Default: actors without an
   * owner. Null: those of all owners.
   */
  async removeFinal(kind: string, createdBeforeMs: number, owner: string | null = ''): Promise<void> {
    const candidates = [...this.#all.index.listed(kind, owner)]
    await this.#removeFinal(candidates, (id) => idTime(id) < createdBeforeMs)
  }

  /**
   * Deletes the final actors of a kind and an owner, except the newest ones and those that `isRetained`
   * selects. Returns the deleted ids.
   */
  removeOlder(
    kind: string,
    owner: string,
    retained: number,
    isRetained: (id: string) => boolean = () => false,
  ): Promise<string[]> {
    const ids = this.#all.index.beyondNewest(kind, owner, retained)
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

interface PageRequest<Item> {
  limit: number
  /** Only records older than this id. The id itself may be deleted. */
  before?: string | undefined
  accepts?: (record: Item) => boolean
}

interface Page<Item> {
  records: Item[]
  /** The `before` of the next page; null on the last page. */
  next: string | null
}

/** Bounds the reads of a filter that accepts almost nothing. The page is then shorter than its limit. */
const maxScanned = 2000

function paginate<Item>(
  ids: Iterable<string>,
  recordOf: (id: string) => Item | null,
  { limit, accepts = () => true }: PageRequest<Item>,
): Page<Item> {
  const records: Item[] = []
  let scanned = 0
  let last: string | null = null
  for (const id of ids) {
    if (records.length === limit || scanned === maxScanned) return { records, next: last }
    const record = recordOf(id)
    if (record && accepts(record)) records.push(record)
    scanned += 1
    last = id
  }
  return { records, next: null }
}
