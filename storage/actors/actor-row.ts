// The stored form of an actor: its row with the snapshot, its record for the API, and its history.
// Snapshots are opaque to storage; only their charts interpret them.
import type { ServicePatch } from '../services.ts'
import type { By, NewEntry } from './history-entry.ts'

/** The API's representation of an actor. Each kind has its own fields, and at least these. */
export type ActorRecord = { id: string; status: string } & { [field: string]: unknown }

/** The record type of each kind. Empty here: the supervisor declares the kinds of its catalogue. */
// biome-ignore lint/suspicious/noEmptyInterface: src/supervisor/options.ts adds the members.
export interface KindRecords {}

export type RecordOf<Kind extends string> = Kind extends keyof KindRecords
  ? KindRecords[Kind] & CommonRecordFields
  : ActorRecord

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
  /** The requester of the actor. Missing in rows older than the field, and for actors without a requester. */
  by?: By | null
}

export type CommonRecordFields = { revision: number; by: By | null }

/** One transition of one actor. `event` makes a repetition of the same request a no-op. */
export interface Transition {
  row: ActorRow
  record: ActorRecord
  entry: NewEntry
  service: ServicePatch | null
  event: string | null
}

/** Derives the record from a stored snapshot. May throw for an unknown snapshot. */
export type ToRecord = (row: ActorRow) => ActorRecord

export type ActiveActor = Pick<ActorRow, 'id' | 'kind' | 'service_id'>

/**
 * `failed_repeatedly`: too many internal errors. `row_damaged`: a stored row fails its checksum.
 * `snapshot_misfit`: the chart of this version does not know the stored state. `ended_server`: what it read
 * ended the daemon twice.
 */
export type ParkCode = 'failed_repeatedly' | 'row_damaged' | 'snapshot_misfit' | 'ended_server'

export interface ParkNote {
  /** Null when the note is damaged, or when the version that parked the actor stored no note. */
  at: string | null
  code: ParkCode
  reason: string
}
