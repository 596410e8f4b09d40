// What an inspector shows of running actors, as messages over a WebSocket. No context, input or output.
import { z } from 'zod'
import { identifier } from './parts/fields.ts'

export const InspectQuery = z.strictObject({
  actor: identifier.optional().describe('Id of an actor: only its messages are sent.'),
})
export type InspectQuery = z.output<typeof InspectQuery>

export interface InspectMessage {
  /**
   * `transition` is committed. `ignored`: the chart does not take the event in this state. `rejected`: the
   * chart failed with an internal error. `effect`: an effect began or has ended.
   */
  type: 'transition' | 'ignored' | 'rejected' | 'effect'
  at: string
  actor_id: string
  kind: string
  /** As in the history; null for an effect. */
  event: string | null
  /** Null for a new actor and for an effect. */
  from: string | null
  /** Null without a transition. */
  to: string | null
  /** The edges that the transition took. */
  microsteps: { event: string; from: string; to: string; guard: string | null }[]
  effect: { name: string; outcome: 'started' | 'done' | 'failed' | 'aborted'; code: string | null } | null
}
