// What callers give the supervisor, and what they get.
import type { Kind } from '../../machines/index.ts'
import type { ActorRow, By, RecordOf } from '../../storage/actors/actors.ts'
import type { Storage } from '../../storage/index.ts'
import type { Commit } from '../../storage/store/store.ts'
import type { Logger } from '../logger.ts'

export interface SupervisorOptions {
  storage: Pick<Storage, 'actors' | 'events'>
  catalogue: Record<string, Kind>
  logger: Logger
  now?: () => number
  /** After an actor was parked. */
  onParked?: (id: string, reason: string) => Promise<void>
  /** Throws when a parked actor may not go on from this snapshot: others have taken its place. */
  assertCanResume?: (row: ActorRow, snapshot: unknown) => void
}

/** The request's id: a repetition of it changes nothing. */
export interface EventOptions {
  eventId?: string
}

export interface SpawnOptions extends EventOptions {
  /** What belongs to the same request is written in the same transaction. */
  also?: (commit: Commit) => void
  /** Who asked for it. */
  by?: By
}

export interface DiscardOptions {
  /** What belongs to the same request is written in the same transaction. */
  also?: (commit: Commit) => void
}

export interface Spawned<Kind extends string = string> {
  record: RecordOf<Kind>
  duplicate: boolean
}
