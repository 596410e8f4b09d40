// The tables of actors. A row, its record, its history entry and its index keys are written together.
// Writes work only inside a commit.

import type { Activity } from '../activity.ts'
import type { StoredEvents } from '../events.ts'
import type { Services } from '../services.ts'
import type { Commit, Store, Table } from '../store/store.ts'
import type { Range } from '../store/table.ts'
import { ActorIndex } from './actor-index.ts'
import type { ActiveActor, ActorRecord, ActorRow, ToRecord, Transition } from './actor-row.ts'
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
  activity: Activity
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
  readonly #activity: Activity

  constructor(store: Store, services: Services, events: StoredEvents, options: RowOptions) {
    this.rows = store.table('actors')
    this.records = store.table('records')
    this.index = new ActorIndex(store)
    this.#history = store.table('history')
    this.#services = services
    this.#events = events
    this.#boot = options.boot
    this.#toRecord = options.toRecord
    this.#activity = options.activity
  }

  /** A damaged record is rebuilt from the snapshot. */
  record(id: string): ActorRecord | null {
    const storedRecord = this.records.getOrNull(id) ?? (this.records.has(id) ? this.#rebuildRecord(id) : null)
    return storedRecord === null || 'revision' in storedRecord
      ? storedRecord
      : this.#withCommonFields(storedRecord)
  }

  historyOf(id: string, limit = noLimit): HistoryEntry[] {
    return this.#entries({ start: [id, 0], end: [id, noLimit], limit })
  }

  /** The newest entries with a lower revision than `before`, oldest first. */
  newestOf(id: string, limit: number, before = noLimit): HistoryEntry[] {
    return this.#entries({ start: [id, before - 1], end: [id, 0], reverse: true, limit }).reverse()
  }

  #entries(range: Range): HistoryEntry[] {
    return [...this.#history.validRows(range)].map(({ key, value }) => {
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

  /** In the history, the feed and the activity, so that they never differ. */
  publish(commit: Commit, row: Announced, { status }: ActorRecord, entry: NewEntry): void {
    const { id, kind, service_id, revision } = row
    this.#history.put([id, revision], { ...entry, boot: this.#boot })
    const expired = revision - lastEntriesRetained
    if (expired > firstEntriesRetained) this.#history.remove([id, expired])
    const transition = { actor_id: id, kind, ...entry, revision, boot: this.#boot }
    const number = commit.announce({ kind, id, service_id, status, revision, transition })
    this.#activity.keep(number, service_id, transition)
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
