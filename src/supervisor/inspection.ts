// What viewers see of running actors: names of events, states and effects. Never a context, an input, an
// output or the message of an error.
import type { AnyActor, AnyActorScope, AnyMachineSnapshot, AnyTransitionDefinition, StateValue } from 'xstate'
import { eventName, guardName } from '../../machines/graph.ts'

interface Seen {
  at: string
  id: string
  kind: string
}

/** The names are those of the history: `fetchSource.done`, `running.building`. */
export type Inspected = Seen & (Moved | NotTaken | EffectSeen)

interface Moved {
  type: 'transition'
  event: string
  /** As XState calls it. */
  eventType: string
  /** Null for a new actor. */
  from: string | null
  to: string
  value: StateValue
  isFinal: boolean
  microsteps: Microstep[]
}

interface NotTaken {
  /** `rejected`: the chart threw an error. */
  type: 'ignored' | 'rejected'
  event: string
  eventType: string
  from: string
}

interface EffectSeen {
  type: 'effect'
  effect: Effect
}

export interface Effect {
  name: string
  outcome: 'started' | 'done' | 'failed' | 'aborted'
  /** Of the error, if it failed. */
  code: string | null
}

/** An edge of the chart that a transition took. `event` is empty for an edge without a cause. */
export interface Microstep {
  event: string
  from: string
  to: string
  guard: string | null
}

export interface RunningView {
  id: string
  kind: string
  value: StateValue
  /** The effects that are under way. */
  effects: string[]
}

interface Running {
  row: { id: string; kind: string }
  actor: AnyActor
  /** Its commits. */
  tail: Promise<void>
}

export async function* viewsOf(running: Iterable<Running>): AsyncGenerator<RunningView> {
  for (const each of running) {
    // Its snapshot is ahead of the store during a commit.
    await each.tail
    const { value, children } = each.actor.getSnapshot() as AnyMachineSnapshot
    yield { id: each.row.id, kind: each.row.kind, value, effects: Object.keys(children) }
  }
}

/** It is called during a transition: it must neither throw nor wait. */
export type Report = (seen: Inspected) => void

export class Inspection {
  readonly #reports = new Set<Report>()
  /** Null without a viewer, so that actors prepare nothing. */
  report: Report | null = null

  /** Returns a function that ends it. */
  add(report: Report): () => void {
    this.#reports.add(report)
    this.report = (seen) => {
      for (const each of this.#reports) each(seen)
    }
    return () => {
      this.#reports.delete(report)
      if (this.#reports.size === 0) this.report = null
    }
  }
}

/** Records the edges that the next transition of this actor takes. */
export function recordMicrosteps({ system }: AnyActorScope) {
  const microsteps: Microstep[] = []
  const watching = system.inspect((event) => {
    if (event.type === '@xstate.microstep') microsteps.push(...event._transitions.flatMap(toMicrosteps))
  })
  return { microsteps, stop: () => watching.unsubscribe() }
}

/** A transition with several targets takes several edges. */
function toMicrosteps({ source, target, eventType, guard }: AnyTransitionDefinition): Microstep[] {
  return (target ?? [source]).map((to) => ({
    event: eventName(eventType),
    from: source.path.join('.'),
    to: to.path.join('.'),
    guard: guardName(guard),
  }))
}
