// Durable actors: snapshot, record, indexes and history entry of one transition, written together.
// Snapshots are opaque here. What a record means is the business of machines/, what a row is, of this
// file.

import type { StoredEvents } from '../events.ts'
import type { Services } from '../services.ts'
import { StorageError } from '../store/errors.ts'
import { idTime } from '../store/ids.ts'
import type { Commit, Store } from '../store/store.ts'
import { type Page, type PageRequest, paginate } from './actor-page.ts'
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
const erasedAtOnce = 50

export class Actors {
  readonly #store: Store
  readonly #services: Services
  readonly #all: ActorRows
  readonly #parking: ParkedActors

  /** `toRecord` makes a record again that is damaged. */
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

  /** A damaged one is made again from the snapshot. The caller knows the kind: it is not checked. */
  record<Kind extends string = string>(id: string): RecordOf<Kind> | null {
    return this.#all.record(id) as RecordOf<Kind> | null
  }

  /** Every actor that is not final; of all kinds, or of one, or of one and a service. */
  active(kind?: string, serviceId?: string): Iterable<ActiveActor> {
    return this.#all.index.active(kind, serviceId)
  }

  /** The newest first. */
  list<Kind extends string>(kind: Kind, serviceId: string, limit: number): RecordOf<Kind>[] {
    const records = this.ids(kind, serviceId, limit).map((id) => this.record<Kind>(id))
    return records.filter((record) => record !== null)
  }

  /** Over several services, the newest first. */
  page<Kind extends string>(
    kind: Kind,
    serviceIds: readonly string[],
    asked: PageRequest<RecordOf<Kind>>,
  ): Page<RecordOf<Kind>> {
    return paginate(
      this.#all.index.newest(kind, serviceIds, asked.before),
      (id) => this.record<Kind>(id),
      asked,
    )
  }

  latest<Kind extends string>(kind: Kind, serviceId: string): RecordOf<Kind> | null {
    return this.list(kind, serviceId, 1)[0] ?? null
  }

  /** The newest first. */
  ids(kind: string, serviceId: string, limit?: number): string[] {
    return this.#all.index.ids(kind, serviceId, limit)
  }

  /** The first ten and the last five hundred transitions, oldest first. */
  history(id: string): HistoryEntry[] {
    return this.#all.historyOf(id)
  }

  /**
   * Writes the first snapshot, with whatever else belongs to the same request. Throws `id_taken` when the
   * actor exists (whoever spawns looks first), and `conflict` when its service is being deleted.
   */
  create(transition: Transition, also: (commit: Commit) => void = () => {}): Promise<void> {
    return this.#store.commit((commit) => {
      const { row, service } = transition
      also(commit)
      if (row.service_id && !service?.deleting) this.#services.assertNotDeleting(row.service_id)
      if (this.#all.rows.get(row.id)) throw new StorageError('id_taken', `${row.id} exists`)
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

  /** Keeps an actor for an operator: no restart reads it, its record says why. Works on a damaged row too. */
  park(id: string, reason: string, at: string, code?: ParkCode): Promise<void> {
    return this.#parking.park(id, reason, at, code)
  }

  /** A parked actor may be started again. Throws `not_parked`. */
  unpark(id: string, unparked: Unparked): Promise<void> {
    return this.#parking.unpark(id, unparked)
  }

  /** Ends a parked actor. What it made in Docker stays. Throws `not_parked`. */
  discard(id: string, discard: Discard): Promise<void> {
    return this.#parking.discard(id, discard)
  }

  /** Writes a new actor in place of a parked or discarded one. Throws `not_parked`. */
  replace(transition: Transition, also?: (commit: Commit) => void): Promise<void> {
    return this.#parking.replace(transition, also)
  }

  /** Those that wait for an operator; of all kinds, or of one, or of one and a service. */
  parked(kind?: string, serviceId?: string): Iterable<ParkedActor> {
    return this.#parking.list(kind, serviceId)
  }

  /** Null for an actor that is not parked. */
  parkedOf(id: string): ParkedActor | null {
    return this.#parking.find(id)
  }

  /** Of the last transition, also where the row is damaged. */
  revisionOf(id: string): number {
    return this.#all.revisionOf(id)
  }

  /** Forgets every actor of a kind that belongs to a service. Throws `conflict` while one is active. */
  removeAll(kind: string, serviceId: string): Promise<void> {
    return this.#store.commit(() => {
      const [busy] = this.active(kind, serviceId)
      if (busy) throw new StorageError('conflict', `${busy.id} is still active`)
      for (const id of this.ids(kind, serviceId)) this.#all.erase(kind, serviceId, id)
    })
  }

  /**
   * Forgets the actors of a kind that are final and were made before `madeBeforeMs`: without an owner those
   * that belong to nobody, with null all.
   */
  async removeFinal(kind: string, madeBeforeMs: number, owner: string | null = ''): Promise<void> {
    const all = [...this.#all.index.listed(kind, owner)]
    const over = all.filter(({ id }) => idTime(id) < madeBeforeMs && this.#all.rows.getOrNull(id)?.final)
    if (over.length === 0) return
    await this.#store.commit(() => {
      for (const { kind, service_id: owner, id } of over) this.#all.erase(kind, owner ?? '', id)
    })
  }

  /**
   * Deletes the final actors of a kind and an owner, except the newest ones and those that `isKept` selects.
   * Returns their ids.
   */
  async removeOlder(
    kind: string,
    owner: string,
    kept: number,
    isKept: (id: string) => boolean = () => false,
  ): Promise<string[]> {
    const isOver = (id: string) => this.#all.rows.getOrNull(id)?.final && !isKept(id)
    const over = this.#all.index.older(kind, owner, kept).filter(isOver)
    const gone: string[] = []
    for (let start = 0; start < over.length; start += erasedAtOnce) {
      await this.#store.commit(() => {
        for (const id of over.slice(start, start + erasedAtOnce).filter(isOver)) {
          this.#all.erase(kind, owner, id)
          gone.push(id)
        }
      })
    }
    return gone
  }

  /** Finds actors that a damaged index hides; only then reads every row. Returns whether there was damage. */
  async repairIndex(): Promise<boolean> {
    await this.#parking.indexLegacyParked()
    if (this.#all.index.isConsistent()) return false
    const rows = [...this.#all.rows.validRows()].map(({ value }) => value)
    await this.#store.commit(() => this.#all.index.rebuild(rows, (id) => this.#all.rows.has(id)))
    return true
  }
}

function unknownRecord(): never {
  throw new StorageError('row_damaged', 'nobody knows how to make this record again')
}
