// What the supervisor keeps of each running actor, and what callers give and get.
import type { AnyActor } from 'xstate'
import type { Kind } from '../../machines/index.ts'
import type { ActorRecord, ActorRow, By } from '../../storage/actors.ts'
import type { Storage } from '../../storage/index.ts'
import type { Commit } from '../../storage/store.ts'
import type { Logger } from '../logger.ts'
import type { Move } from './transition.ts'

export interface SupervisorOptions {
  storage: Pick<Storage, 'actors' | 'events'>
  catalogue: Record<string, Kind>
  logger: Logger
  now?: () => number
  /** After an actor was parked. */
  onParked?: (id: string, reason: string) => Promise<void>
  /** Throws when a parked actor may not go on from this snapshot: others have taken its place. */
  mayGoOn?: (row: ActorRow, snapshot: unknown) => void
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

export interface Spawned {
  record: ActorRecord
  duplicate: boolean
}

export type Step = Pick<Move, 'before' | 'next' | 'event'>

export interface Entry {
  kind: string
  actor: AnyActor
  row: ActorRow
  /** The commits of one actor are a chain: after a failed one, later ones and their effects are dropped. */
  tail: Promise<void>
  broken: boolean
  /** While it waits to be started again. */
  returning: Promise<void> | null
}
