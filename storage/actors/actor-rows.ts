// The tables of actors. A row, its record, its history entry and its index keys are written together.
// Writes work only inside a commit.

import type { Key } from 'lmdb'
import type { StoredEvents } from '../events.ts'
import type { Services } from '../services.ts'
import type { Commit, Store, Table } from '../store/store.ts'
import type { ActiveActor, ActorRecord, ActorRow, ParkNote, ToRecord, Transition } from './actor-row.ts'
import type { HistoryEntry, NewEntry } from './history-entry.ts'

const firstEntriesRetained = 10
const lastEntriesRetained = 500
const noLimit = Number.MAX_SAFE_INTEGER

/** Entries of older servers lack some fields. */
type StoredEntry = Omit<NewEntry, 'by'> & Partial<Pick<HistoryEntry, 'by' | 'boot'>>

type Announced = ActiveActor & { revision: number }

export interface RowOptions {
  /** The number of this start of the daemon. */
  boot: number
  toRecord: ToRecord
}

export class ActorRows {
  readonly rows: Table<ActorRow>
  readonly records: Table<ActorRecord>
  readonly index: ActorIndex
  /** `[id, revision]` */
  readonly #history: Table<StoredEntry>
  readonly #services: Services
  readonly #events: StoredEvents
  readonly #boot: number
  readonly #toRecord: ToRecord

  constructor(store: Store, services: Services, events: StoredEvents, { boot, toRecord }: RowOptions) {
    this.rows = store.table('actors')
    this.records = store.table('records')
    this.index = new ActorIndex(store)
    this.#history = store.table('history')
    this.#services = services
    this.#events = events
    this.#boot = boot
    this.#toRecord = toRecord
  }

  /** A damaged record is rebuilt from the snapshot. */
  record(id: string): ActorRecord | null {
    const storedRecord = this.records.getOrNull(id) ?? (this.records.has(id) ? this.#rebuildRecord(id) : null)
    return storedRecord === null || 'revision' in storedRecord
      ? storedRecord
      : this.#withCommonFields(storedRecord)
  }

  historyOf(id: string, limit = noLimit): HistoryEntry[] {
    const entries = [...this.#history.validRows({ start: [id, 0], end: [id, noLimit], limit })]
    return entries.map(({ key, value }) => {
      const [, revision] = key as [string, number]
      return { ...value, by: value.by ?? null, revision, boot: value.boot ?? null }
    })
  }

  /** The revision of the last transition, from a key, because the row may be damaged. */
  revisionOf(id: string): number {
    const [last] = this.#history.keys({ start: [id, noLimit], end: [id, 0], reverse: true, limit: 1 })
    return last ? (last as [string, number])[1] : 0
  }

  write(commit: Commit, { row, record, entry, service, event }: Transition): void {
    if (row.service_id && service) this.#services.patch(commit, row.service_id, service)
    if (row.service_id && this.#changesServiceState(row, record)) this.#services.touch(commit, row.service_id)
    this.writeRow(row)
    this.records.put(row.id, { ...record, revision: row.revision, by: row.by ?? null })
    if (event) this.#events.keep(event, entry.at, record)
    this.publish(commit, row, record, entry)
  }

  writeRow(row: ActorRow): void {
    this.rows.put(row.id, row)
    this.index.update(row)
  }

  /** In the history and in the feed, so that they never differ. */
  publish(commit: Commit, row: Announced, { status }: ActorRecord, entry: NewEntry): void {
    const { id, kind, service_id, revision } = row
    this.#history.put([id, revision], { ...entry, boot: this.#boot })
    const expired = revision - lastEntriesRetained
    if (expired > firstEntriesRetained) this.#history.remove([id, expired])
    const transition = { actor_id: id, kind, ...entry, revision, boot: this.#boot }
    commit.announce({ kind, id, service_id, status, revision, transition })
  }

  erase(kind: string, serviceId: string, id: string): void {
    for (const key of [...this.#history.keys({ start: [id, 0], end: [id, noLimit] })])
      this.#history.remove(key)
    this.rows.remove(id)
    this.records.remove(id)
    this.index.remove({ kind, service_id: serviceId, id })
  }

  /** The state of a service derives from its deploys. It does not distinguish queued from running. */
  #changesServiceState({ id, kind }: ActorRow, { status }: ActorRecord): boolean {
    const isActive = (one: string | undefined) => one === 'queued' || one === 'running'
    const previous = this.records.getOrNull(id)?.status
    return kind === 'deploy' && previous !== status && !(isActive(previous) && isActive(status))
  }

  /** Records written by older servers and rebuilt records do not have these fields. */
  #withCommonFields(record: ActorRecord): ActorRecord {
    const row = this.rows.getOrNull(record.id)
    return { ...record, revision: row?.revision ?? 0, by: row?.by ?? null }
  }

  /** When the snapshot is damaged too, the record reports that: one bad row must not break a list. */
  #rebuildRecord(id: string): ActorRecord {
    try {
      const row = this.rows.get(id)!
      const failed = { status: 'failed', error: `internal: ${row.parked}` }
      return { ...this.#toRecord(row), ...(row.parked ? failed : {}) }
    } catch {
      return { id, status: 'failed', error: 'internal: the record of this actor is damaged' }
    }
  }
}

class ActorIndex {
  /** `[kind, service, id]` of the actors that a restart restores. */
  readonly #active: Table<1>
  /** `[kind, service, id]` of every actor. Ids sort by age, so lists need no timestamp. */
  readonly #lists: Table<1>
  /** `[kind, service, id]` of every parked actor, with the reason. */
  readonly #parked: Table<ParkNote>

  constructor(store: Store) {
    this.#active = store.table('active')
    this.#lists = store.table('actor_lists')
    this.#parked = store.table('parked')
  }

  active(kind?: string, serviceId?: string): Iterable<ActiveActor> {
    return actorsIn(this.#active, kind, serviceId)
  }

  parked(kind?: string, serviceId?: string): Iterable<ActiveActor> {
    return actorsIn(this.#parked, kind, serviceId)
  }

  /** Why and when the actor was parked; null for a damaged note. */
  parkNote(actor: ActiveActor): ParkNote | null {
    return this.#parked.getOrNull(toKey(actor))
  }

  /** Newest first, without the newest `offset`. LMDB itself skips their keys. */
  ids(kind: string, serviceId: string, limit = noLimit, offset = 0): string[] {
    const range = { start: [kind, serviceId, '\uffff'], end: [kind, serviceId, ''], reverse: true }
    return [...this.#lists.keys({ ...range, limit, offset })].map((key) => (key as string[])[2]!)
  }

  /** Merged, newest first, older than `before`. Reads one key per service more than it yields. */
  *newest(kind: string, serviceIds: readonly string[], before = '\uffff'): Iterable<string> {
    const lists = serviceIds.map((serviceId) => this.#older(kind, serviceId, before))
    const heads = lists.map((list) => list.next())
    try {
      while (true) {
        let newest = -1
        let id = ''
        for (const [at, head] of heads.entries()) {
          if (head.done || head.value < id) continue
          newest = at
          id = head.value
        }
        if (newest < 0) return
        yield id
        heads[newest] = lists[newest]!.next()
      }
    } finally {
      for (const list of lists) list.return(undefined)
    }
  }

  *#older(kind: string, serviceId: string, before: string): Generator<string, undefined> {
    const range = { start: [kind, serviceId, before], end: [kind, serviceId, ''], reverse: true }
    for (const key of this.#lists.keys(range)) {
      const id = (key as string[])[2]!
      if (id !== before) yield id
    }
  }

  /** Actors of one kind, including final ones. A null owner means all owners. */
  *listed(kind: string, owner: string | null): Iterable<ActiveActor> {
    const range = { start: [kind, owner ?? '', ''], end: [kind, owner ?? '\uffff', '\uffff'] }
    for (const key of this.#lists.keys(range)) yield toActor(key)
  }

  add(row: ActorRow): void {
    this.#lists.put(toKey(row), 1)
  }

  update(row: ActorRow): void {
    if (row.final || row.parked) this.#active.remove(toKey(row))
    else this.#active.put(toKey(row), 1)
    if (row.final || !row.parked) this.#parked.remove(toKey(row))
  }

  park(actor: ActiveActor, note: ParkNote): void {
    this.#active.remove(toKey(actor))
    this.#parked.put(toKey(actor), note)
  }

  remove(actor: ActiveActor): void {
    for (const table of [this.#active, this.#lists, this.#parked]) table.remove(toKey(actor))
  }
}

function* actorsIn(table: Table<unknown>, kind?: string, serviceId?: string): Iterable<ActiveActor> {
  const start = [kind, serviceId].filter((part) => part !== undefined)
  const range = start.length > 0 ? { start: [...start, ''], end: [...start, '\uffff'] } : {}
  for (const key of table.keys(range)) yield toActor(key)
}

function toActor(key: Key): ActiveActor {
  const [kind, service, id] = key as [string, string, string]
  return { id, kind, service_id: service || null }
}

function toKey({ kind, service_id, id }: ActiveActor): string[] {
  return [kind, service_id ?? '', id]
}
