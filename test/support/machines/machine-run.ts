// Runs one machine in memory with the test's effects, and records its states.
import { setImmediate } from 'node:timers/promises'
import { type AnyActorRef, type AnyStateMachine, createActor, fromPromise, type Snapshot } from 'xstate'

export type TestEffect = (input: Record<string, unknown>, signal: AbortSignal) => Promise<unknown>

export interface Run {
  actor: AnyActorRef
  /** All states, in order. */
  states: string[]
  /** All snapshots as storage would persist them, in order. */
  snapshots: Snapshot<unknown>[]
  /** All started effects, in order. */
  started: string[]
  /** Resolves when the machine is final, has failed, or is in that state. */
  reached(state: string): Promise<void>
}

/** Starts a machine from its input or from a stored snapshot. */
export function runMachine(
  machine: AnyStateMachine,
  effects: Record<string, TestEffect>,
  from: { input: object } | { snapshot: Snapshot<unknown> },
): Run {
  const started: string[] = []
  const actors = Object.fromEntries(
    Object.keys(machine.implementations.actors).map((name) => [
      name,
      fromPromise(({ input, signal }) => {
        started.push(name)
        const effect = effects[name]
        return effect ? effect(input as Record<string, unknown>, signal) : forever(signal)
      }),
    ]),
  )
  const actor: AnyActorRef = createActor(machine.provide({ actors }), from as never)
  const states: string[] = []
  const snapshots: Snapshot<unknown>[] = []
  const waiting = new Map<string, () => void>()
  actor.subscribe({
    next: (snapshot) => {
      const state = pathOf(snapshot.value)
      if (states.at(-1) !== state) states.push(state)
      snapshots.push(JSON.parse(JSON.stringify(actor.getPersistedSnapshot())))
      waiting.get(state)?.()
    },
    error: () => undefined,
  })
  actor.start()
  const reached = (state: string) =>
    new Promise<void>((resolve) => {
      if (states.includes(state)) resolve()
      else waiting.set(state, resolve)
    })
  return { actor, states, snapshots, started, reached }
}

/** Continues from a snapshot with effects that wait, and returns what they were asked for. */
export async function continueFrom(machine: AnyStateMachine, snapshot: Snapshot<unknown>) {
  const requests: [effect: string, input: unknown][] = []
  const listen = (name: string): TestEffect => {
    return (input, signal) => {
      requests.push([name, input])
      return forever(signal)
    }
  }
  const names = Object.keys(machine.implementations.actors)
  const run = runMachine(machine, Object.fromEntries(names.map((name) => [name, listen(name)])), { snapshot })
  await setImmediate()
  return { run, requests }
}

export function forever(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

export const waits: TestEffect = (_, signal) => forever(signal)

/** Runs `first` once and `then` from the second call on. */
export function once(first: TestEffect, then: TestEffect): TestEffect {
  let isFirst = true
  return (effectInput, signal) => {
    const effect = isFirst ? first : then
    isFirst = false
    return effect(effectInput, signal)
  }
}

export function pathOf(value: unknown): string {
  if (typeof value === 'string') return value
  return Object.entries(value as object)
    .map(([name, inner]) => `${name}.${pathOf(inner)}`)
    .join(' ')
}
