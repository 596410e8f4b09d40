// The supervisor's state of a running actor.
import type { AnyActor } from 'xstate'
import type { ActorRow } from '../../storage/actors/actors.ts'

export interface RunningActor {
  actor: AnyActor
  row: ActorRow
  /** The chain of the actor's commits. After a failed one, later ones and their effects are dropped. */
  tail: Promise<void>
  broken: boolean
  /** Settles when the actor runs again, or is parked. */
  restarting: Promise<void> | null
}
