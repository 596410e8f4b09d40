// A deploy as one story: the lines of its log and the states of its chart, in the order they happened.
// They come on two streams: each is held for a moment and sorted, or a line would land in the wrong state.
import { setTimeout as delay } from 'node:timers/promises'
import type { Api } from '../support/api.ts'

export interface State {
  at: string
  /** The chart's node without its parents: `building`. */
  name: string
}

export type Moment = { at: string; line: string } | { at: string; state: State }

/** So much later than it happened is it told. */
export const holdMs = 200
const stepMs = 40
const ends = ['live', 'failed', 'canceled']

/** Ends when the deploy is live, failed or canceled. Rejects when the daemon goes away. */
export async function* watchDeploy(api: Api, deployId: string, signal: AbortSignal): AsyncGenerator<Moment> {
  const held: Moment[] = []
  const leaving = new AbortController()
  const either = AbortSignal.any([signal, leaving.signal])
  const keep = (moment: Moment) => void held.push(moment)
  const watching = Promise.all([
    followLog(api, deployId, keep, either),
    followStates(api, deployId, keep, either),
  ])
  let isOver = false
  const over = () => {
    isOver = true
  }
  watching.then(over, over)
  try {
    for (let isLast = false; !isLast; ) {
      isLast = isOver
      yield* takeBefore(held, isLast ? Number.POSITIVE_INFINITY : Date.now() - holdMs)
      if (!isLast) await delay(stepMs)
    }
    await watching
  } finally {
    leaving.abort()
  }
}

/** The states that a deploy has been in. */
export async function statesOf(api: Api, deployId: string): Promise<State[]> {
  const history: { at: string; state: string }[] = await api.get(`/deploys/${deployId}/history`)
  return history.map(({ at, state }) => ({ at, name: state.split('.').at(-1)! }))
}

async function followLog(api: Api, deployId: string, keep: (moment: Moment) => void, signal: AbortSignal) {
  for await (const { event, data } of api.events(`/deploys/${deployId}/logs?follow=true`, { signal })) {
    if (event === 'end') return
    const { ts, line }: { ts: string; line: string } = JSON.parse(data)
    keep({ at: ts, line })
  }
  throw new Error('the log of the deploy broke off')
}

// The change feed says that something happened, the history says what.
async function followStates(api: Api, deployId: string, keep: (moment: Moment) => void, signal: AbortSignal) {
  let seen = 0
  for await (const { event, data } of api.events('/events', { signal })) {
    if (event === 'change' && JSON.parse(data).id !== deployId) continue
    const states = await statesOf(api, deployId)
    for (const state of states.slice(seen)) keep({ at: state.at, state })
    seen = states.length
    if (states.some(({ name }) => ends.includes(name))) return
  }
  throw new Error('the change feed broke off')
}

// On a tie the line comes first: the last words of a state and its end often share a millisecond.
function takeBefore(held: Moment[], instant: number): Moment[] {
  const order = (moment: Moment) => Date.parse(moment.at) + ('state' in moment ? 0.5 : 0)
  held.sort((a, b) => order(a) - order(b))
  const ripe = held.findIndex((moment) => Date.parse(moment.at) > instant)
  return held.splice(0, ripe === -1 ? held.length : ripe)
}
