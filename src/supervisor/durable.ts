// Write-ahead: wraps a machine's `transition` so that its effects wait for the commit of the new snapshot.
// XState starts effects before it notifies subscribers, so persisting in a subscriber would be too late.
import type {
  AnyActorScope,
  AnyMachineSnapshot,
  AnyStateMachine,
  EventObject,
  ExecutableActionObject,
} from 'xstate'
import { type Microstep, recordMicrosteps } from './inspection.ts'

/** What the supervisor does with each outcome of a transition. */
export interface Journal {
  isWatched(): boolean
  /**
   * A new snapshot: commit it, then call `act` (never when the commit fails). The microsteps are recorded
   * only while the actor is watched.
   */
  transitioned(
    before: AnyMachineSnapshot,
    next: AnyMachineSnapshot,
    event: EventObject,
    act: () => void,
    microsteps: Microstep[],
  ): void
  /** The chart does not handle the event in this state: nothing to commit. */
  ignored(event: EventObject): void
  /** A guard, assign or input function threw: nothing ran, the actor is unchanged. */
  rejected(event: EventObject, error: unknown): void
  /** An effect failed without a handler in the chart, or `transitioned` threw. Nothing is committed. */
  failed(event: EventObject, error: unknown): void
}

/** The same machine, with transitions that are committed through the journal before their effects run. */
export function makeDurable(machine: AnyStateMachine, journal: Journal): AnyStateMachine {
  const durable: AnyStateMachine = Object.create(machine)
  durable.transition = (snapshot: AnyMachineSnapshot, event: EventObject, scope: AnyActorScope) => {
    // Shutdown is never persisted.
    if (event.type === 'xstate.stop') return machine.transition(snapshot, event, scope)
    const { stops, effects, collecting, done } = collectEffects(scope)
    const recording = journal.isWatched() ? recordMicrosteps(scope) : null
    let next: AnyMachineSnapshot
    try {
      next = machine.transition(snapshot, event, collecting)
    } catch (error) {
      journal.rejected(event, error)
      return snapshot
    } finally {
      recording?.stop()
    }
    done()
    if (next === snapshot) {
      journal.ignored(event)
      return snapshot
    }
    // Stop before the commit: otherwise the late result of a stopped effect could reach the new state.
    for (const stop of stops) stop()
    try {
      if (next.status === 'error') throw next.error
      journal.transitioned(snapshot, next, event, () => runAll(effects), recording?.microsteps ?? [])
    } catch (error) {
      journal.failed(event, error)
    }
    return next
  }
  return durable
}

function collectEffects(scope: AnyActorScope) {
  const stops: (() => void)[] = []
  const effects: (() => void)[] = []
  let sink: (() => void)[] | null = effects
  const collecting: AnyActorScope = {
    ...scope,
    // After the transition (sink is null) a deferred effect runs immediately.
    defer: (effect) => (sink ? sink.push(effect) : effect()),
    actionExecutor: (action: ExecutableActionObject) => {
      if (!isStop(action)) {
        effects.push(() => scope.actionExecutor(action))
        return
      }
      sink = stops
      scope.actionExecutor(action)
      sink = effects
    },
  }
  return {
    stops,
    effects,
    collecting,
    done: () => {
      sink = null
    },
  }
}

function isStop(action: ExecutableActionObject): boolean {
  return action.type === 'xstate.stopChild' || action.type === 'xstate.cancel'
}

function runAll(effects: (() => void)[]): void {
  for (const effect of effects) effect()
}
