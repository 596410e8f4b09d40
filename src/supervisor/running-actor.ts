// What the supervisor keeps of each running actor.
import type { AnyActor } from 'xstate'
import type { ActorRow } from '../../storage/actors/actors.ts'

export interface RunningActor {
  actor: AnyActor
  row: ActorRow
  /** The commits of one actor are a chain: after a failed one, later ones and their effects are dropped. */
  tail: Promise<void>
  broken: boolean
  /** Settles when the actor runs again, or is parked. */
  restarting: Promise<void> | null
}
