// What is stored of an actor: its snapshot, what the API shows of it, and its transitions.
// A snapshot is opaque here; what is in it is its chart's business.
import type { ServicePatch } from '../services.ts'

/** What the API shows of an actor: its own shape per kind, with at least these. */
export type ActorRecord = { id: string; status: string } & { [field: string]: unknown }

/**
 * The record type of each kind. It is empty here, because records are opaque to storage: the supervisor
 * declares the kinds of its catalogue.
 */
// biome-ignore lint/suspicious/noEmptyInterface: src/supervisor/record-types.ts adds the members.
export interface KindRecords {}

/** The stored record of an actor of that kind; an `ActorRecord` for a kind without a declared type. */
export type RecordOf<Kind extends string> = Kind extends keyof KindRecords
  ? KindRecords[Kind] & CommonRecordFields
  : ActorRecord

/** Who caused something, as it was called then. */
export interface By {
  kind: 'session' | 'token' | 'terminal' | 'schedule' | 'push' | 'server'
  /** Of the user of a session, of a token; null for all others. */
  id: string | null
  /** Of a token or terminal; of the server's own deeds their reason. */
  name: string | null
}

export interface ActorRow {
  id: string
  kind: string
  service_id: string | null
  version: number
  revision: number
  snapshot: unknown
  final: boolean
  restarts: number
  parked: string | null
  /** Who asked for it; missing from rows that are older than the field, and where nobody did. */
  by?: By | null
}

export interface HistoryEntry {
  at: string
  event: string
  state: string
  status: string
  phase: string | null
  /** Who sent the event; null for an effect, and in entries that are older than the field. */
  by: By | null
}

/** What each record has beside its kind's own fields. */
export type CommonRecordFields = { revision: number; by: By | null }

/** One transition of one actor. `event` makes a repetition of the same request a no-op. */
export interface Transition {
  row: ActorRow
  record: ActorRecord
  entry: HistoryEntry
  service: ServicePatch | null
  event: string | null
}

/** What a kind shows of a stored snapshot. May throw for one that it does not understand. */
export type ToRecord = (row: ActorRow) => ActorRecord

/** An actor that is not final. */
export type ActiveActor = Pick<ActorRow, 'id' | 'kind' | 'service_id'>

/**
 * `failed_repeatedly`: an error of Berth's own, too often. `row_damaged`: a stored row fails its checksum.
 * `snapshot_misfit`: the chart of this version does not know the stored state.
 */
export type ParkCode = 'failed_repeatedly' | 'row_damaged' | 'snapshot_misfit'

export interface ParkNote {
  /** Null where the note is damaged, or from a version that kept none. */
  at: string | null
  code: ParkCode
  reason: string
}
