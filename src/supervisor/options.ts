// Options and results of the supervisor.
import type { Kind, RecordTypes } from '../../machines/index.ts'
import type { ActorRow, By, RecordOf } from '../../storage/actors/actors.ts'
import type { Storage } from '../../storage/index.ts'
import type { Commit } from '../../storage/store/store.ts'
import type { Logger } from '../logger.ts'

export interface SupervisorOptions {
  storage: Pick<Storage, 'actors' | 'events' | 'foreignReads' | 'hold'>
  catalogue: Record<string, Kind>
  logger: Logger
  now?: () => number
  onParked?: (id: string, reason: string) => Promise<void>
  /** Throws when a parked actor cannot resume from this snapshot, because another actor took its place. */
  assertCanResume?: (row: ActorRow, snapshot: unknown) => void
}

/** `eventId` identifies the request: a repetition of it changes nothing. */
export interface EventOptions {
  eventId?: string | undefined
}

export interface SpawnOptions extends EventOptions {
  /** Further writes in the same transaction. */
  also?: (commit: Commit) => void
  by?: By
}

export interface DiscardOptions {
  also?: (commit: Commit) => void
}

export interface Spawned<Kind extends string = string> {
  record: RecordOf<Kind>
  duplicate: boolean
}

/** The record type of each kind for storage, which does not import machines/. */
declare module '../../storage/actors/actor-row.ts' {
  interface KindRecords extends RecordTypes {}
}
