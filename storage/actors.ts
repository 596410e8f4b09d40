// Durable actors: snapshot, record, indexes and history entry of one transition, written together.
// Mind: snapshots are opaque here. What a record means is the business of machines/, what a row is, of this
// file.
import { ActorIndex } from './actor-index.ts'
import { type Page, type PageAsked, pageOf } from './actor-page.ts'
import type { ActiveActor, ActorRecord, ActorRow, HistoryEntry, ToRecord, Transition } from './actor-row.ts'
import { StorageError } from './errors.ts'
import type { StoredEvents } from './events.ts'
import { idTime } from './ids.ts'
import type { Services } from './services.ts'
import type { Commit, Store, Table } from './store.ts'

export type { ActiveActor, ActorRecord, ActorRow, HistoryEntry, ToRecord, Transition } from './actor-row.ts'

const firstKept = 10
const lastKept = 500
/** A transaction blocks everything else while it runs, and each actor has up to 510 entries of history. */
const erasedAtOnce = 50
const all = Number.MAX_SAFE_INTEGER

export class Actors {
  readonly #store: Store
  readonly #services: Services
  readonly #events: StoredEvents
  readonly #rows: Table<ActorRow>
  readonly #records: Table<ActorRecord>
  readonly #index: ActorIndex
  readonly #history: Table<HistoryEntry>
  readonly #toRecord: ToRecord

  /** `toRecord` makes a record again that is damaged. */
  constructor(store: Store, services: Services, events: StoredEvents, toRecord: ToRecord = unknownRecord) {
    this.#store = store
    this.#toRecord = toRecord
    this.#services = services
    this.#events = events
    this.#rows = store.table('actors')
    this.#records = store.table('records')
    this.#index = new ActorIndex(store)
    this.#history = store.table('history')
  }

  /** Throws `row_damaged` when the snapshot fails its checksum. */
  get(id: string): ActorRow | null {
    return this.#rows.get(id)
  }

  /** A damaged one is made again from the snapshot. */
  record(id: string): ActorRecord | null {
    return this.#records.peek(id) ?? (this.#records.has(id) ? this.#recordAgain(id) : null)
  }

  /** Every actor that is not final; of all kinds, or of one, or of one and a service. */
  active(kind?: string, serviceId?: string): Iterable<ActiveActor> {
    return this.#index.active(kind, serviceId)
  }

  /** The newest first. */
  list(kind: string, serviceId: string, limit: number): ActorRecord[] {
    const records = this.ids(kind, serviceId, limit).map((id) => this.record(id))
    return records.filter((record) => record !== null)
  }

  /** Over several services, the newest first. */
  page(kind: string, serviceIds: readonly string[], asked: PageAsked): Page {
    return pageOf(this.#index.newest(kind, serviceIds, asked.before), (id) => this.record(id), asked)
  }

  latest(kind: string, serviceId: string): ActorRecord | null {
    return this.list(kind, serviceId, 1)[0] ?? null
  }

  /** The newest first. */
  ids(kind: string, serviceId: string, limit?: number): string[] {
    return this.#index.ids(kind, serviceId, limit)
  }

  /** The first ten and the last five hundred transitions, oldest first. */
  history(id: string): HistoryEntry[] {
    return [...this.#history.sound({ start: [id, 0], end: [id, all] })].map(({ value }) => value)
  }

  /**
   * Writes the first snapshot, with whatever else belongs to the same request. Throws `id_taken` when the
   * actor exists (whoever spawns looks first), and `conflict` when its service is being deleted.
   */
  create(transition: Transition, also: (commit: Commit) => void = () => {}): Promise<void> {
    return this.#store.commit((commit) => {
      const { row, service } = transition
      also(commit)
      if (row.service_id && !service?.deleting) this.#services.refuseDeleting(row.service_id)
      if (this.#rows.get(row.id)) throw new StorageError('id_taken', `${row.id} exists`)
      this.#index.add(row)
      this.#write(commit, transition)
    })
  }

  /** Writes a transition. Throws `revision_conflict` when it does not follow the one on disk. */
  advance(transition: Transition): Promise<void> {
    return this.#store.commit((commit) => {
      const { id, revision } = transition.row
      const stored = this.#rows.get(id)?.revision
      if (stored !== revision - 1) {
        throw new StorageError('revision_conflict', `${id} is at ${stored}, not ${revision - 1}`)
      }
      this.#write(commit, transition)
    })
  }

  /** Counts a restart that the supervisor decided on. */
  countRestart(id: string, restarts: number): Promise<void> {
    return this.#store.commit(() => {
      const row = this.#rows.get(id)
      if (row) this.#writeRow({ ...row, restarts })
    })
  }

  /** Keeps an actor for an operator: no restart reads it, its record says why. Works on a damaged row too. */
  park(id: string, reason: string, at: string): Promise<void> {
    return this.#store.commit((commit) => {
      const row = this.#rows.peek(id)
      const where = row ?? [...this.active()].find((actor) => actor.id === id)
      if (!where) return
      if (where.service_id) this.#services.giveUpOn(commit, where.service_id, id)
      const revision = (row?.revision ?? 0) + 1
      const shown = { service_id: where.service_id, ...this.record(id), id, status: 'failed' }
      const record = { ...shown, error: `internal: ${reason}`, finished_at: at }
      this.#index.retire(where)
      this.#records.put(id, record)
      if (row) {
        const entry = { at, event: 'parked', state: 'parked', status: 'failed', phase: null }
        this.#writeHistory(id, revision, entry)
        this.#writeRow({ ...row, revision, parked: reason })
      }
      announce(commit, { ...where, revision }, record)
    })
  }

  /** A parked actor may be started again. */
  unpark(id: string): Promise<void> {
    return this.#store.commit(() => {
      const row = this.#rows.get(id)
      if (row) this.#writeRow({ ...row, parked: null, restarts: 0 })
    })
  }

  /** Forgets every actor of a kind that belongs to a service. Throws `conflict` while one is active. */
  forget(kind: string, serviceId: string): Promise<void> {
    return this.#store.commit(() => {
      const [busy] = this.active(kind, serviceId)
      if (busy) throw new StorageError('conflict', `${busy.id} is still active`)
      for (const id of this.ids(kind, serviceId)) this.#erase(kind, serviceId, id)
    })
  }

  /**
   * Forgets the actors of a kind that are final and were made before `madeBeforeMs`: without an owner those
   * that belong to nobody, with null all.
   */
  async forgetFinal(kind: string, madeBeforeMs: number, owner: string | null = ''): Promise<void> {
    const all = [...this.#index.listed(kind, owner)]
    const over = all.filter(({ id }) => idTime(id) < madeBeforeMs && this.#rows.peek(id)?.final)
    if (over.length === 0) return
    await this.#store.commit(() => {
      for (const { kind, service_id: owner, id } of over) this.#erase(kind, owner ?? '', id)
    })
  }

  /**
   * Deletes the final actors of a kind and an owner, except the newest ones and those that `isKept` selects.
   * Returns their ids.
   */
  async forgetOlder(
    kind: string,
    owner: string,
    kept: number,
    isKept: (id: string) => boolean = () => false,
  ): Promise<string[]> {
    const isOver = (id: string) => this.#rows.peek(id)?.final && !isKept(id)
    const over = this.#index.older(kind, owner, kept).filter(isOver)
    const gone: string[] = []
    for (let start = 0; start < over.length; start += erasedAtOnce) {
      await this.#store.commit(() => {
        for (const id of over.slice(start, start + erasedAtOnce).filter(isOver)) {
          this.#erase(kind, owner, id)
          gone.push(id)
        }
      })
    }
    return gone
  }

  /** Finds actors that a damaged index hides, reading every row then. Answers whether there was damage. */
  async mendIndex(): Promise<boolean> {
    if (this.#index.isWhole()) return false
    const rows = [...this.#rows.sound()].map(({ value }) => value)
    await this.#store.commit(() => this.#index.mend(rows, (id) => this.#rows.has(id)))
    return true
  }

  #erase(kind: string, serviceId: string, id: string): void {
    for (const key of [...this.#history.keys({ start: [id, 0], end: [id, all] })]) this.#history.remove(key)
    this.#rows.remove(id)
    this.#records.remove(id)
    this.#index.remove({ kind, service_id: serviceId, id })
  }

  /** Where the snapshot is damaged too it says so: one bad row must not hide the others. */
  #recordAgain(id: string): ActorRecord {
    try {
      const row = this.#rows.get(id)!
      const failed = { status: 'failed', error: `internal: ${row.parked}` }
      return { ...this.#toRecord(row), ...(row.parked ? failed : {}) }
    } catch {
      return { id, status: 'failed', error: 'internal: the record of this actor is damaged' }
    }
  }

  #write(commit: Commit, { row, record, entry, service, event }: Transition): void {
    this.#writeRow(row)
    this.#records.put(row.id, record)
    this.#writeHistory(row.id, row.revision, entry)
    if (service && row.service_id) this.#services.patch(commit, row.service_id, service)
    if (event) this.#events.keep(event, entry.at, record)
    announce(commit, row, record)
  }

  #writeRow(row: ActorRow): void {
    this.#rows.put(row.id, row)
    this.#index.update(row)
  }

  #writeHistory(id: string, revision: number, entry: HistoryEntry): void {
    this.#history.put([id, revision], entry)
    const expired = revision - lastKept
    if (expired > firstKept) this.#history.remove([id, expired])
  }
}

function announce(commit: Commit, row: ActiveActor & { revision: number }, record: ActorRecord): void {
  const { id, kind, service_id, revision } = row
  commit.announce({ kind, id, service_id, status: record.status, revision })
}

function unknownRecord(): never {
  throw new StorageError('row_damaged', 'nobody knows how to make this record again')
}
