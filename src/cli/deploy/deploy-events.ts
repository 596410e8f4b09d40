// A deploy as one story: the lines of its log and the states of its chart, in the order they happened.
// They come on two streams. Each moment is held a little and sorted, or a line would land in the wrong
// state; instants are the server's, whose clock need not be ours.

import type { Deploy, HistoryEntry } from '../../api/deploy.ts'
import { sleep } from '../../async/sleep.ts'
import { deployPath } from '../client/client.ts'
import { followEvents, parseEvent } from '../client/event-stream.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure, exitCodes } from '../failure.ts'
import { type LogLine, parseLogLine } from '../log-line.ts'

export interface DeployState {
  at: string
  /** The chart's node without its parents: `building`. */
  name: string
  status: string
}

export type Moment = { at: string; line: LogLine } | { at: string; state: DeployState }

export interface Watch {
  /** Ends when the deploy is live, failed or canceled, or with the signal. */
  moments: AsyncGenerator<Moment>
  /** The server's clock as of the newest event, delayed by the time that events are held back. */
  now(): number
}

/** Events are shown with this delay, to put log lines and states in order. */
const holdMs = 200
const stepMs = 40
const askAgainMs = 500
/** The log is closed when the cleanup starts, so these states end the wait. */
const ends = ['live', 'draining', 'deactivated', 'failing', 'failed', 'canceling', 'canceled']

export function watchDeploy(cli: Cli, deployId: string): Watch {
  const clock = createServerClock()
  return { moments: tellMoments(cli, deployId, clock), now: () => clock.now() - holdMs }
}

/** The states that a deploy has been in. */
export async function statesOf(cli: Cli, deployId: string): Promise<DeployState[]> {
  return toStates(await cli.client.call<HistoryEntry[]>('GET', `${deployPath(deployId)}/history`))
}

/** Transitions that stayed in a state are none here. */
export function toStates(history: HistoryEntry[]): DeployState[] {
  const states = history.map(({ at, state, status }) => ({ at, name: state.split('.').at(-1)!, status }))
  return states.filter(({ name }, index) => name !== states[index - 1]?.name)
}

export function isOver({ status }: Pick<Deploy, 'status'>): boolean {
  return status !== 'queued' && status !== 'running'
}

async function* tellMoments(cli: Cli, deployId: string, clock: ServerClock): AsyncGenerator<Moment> {
  const held: Moment[] = []
  const leaving = new AbortController()
  const keep = (moment: Moment) => {
    clock.hear(moment.at)
    held.push(moment)
  }
  const watching = Promise.all([
    followLog(cli, deployId, keep, leaving.signal),
    followStates(cli, deployId, keep, leaving.signal),
  ])
  let isAtEnd = false
  const end = () => {
    isAtEnd = true
  }
  watching.then(end, end)
  try {
    for (let isLast = false; !isLast; ) {
      isLast = isAtEnd
      yield* takeBefore(held, isLast ? Number.POSITIVE_INFINITY : clock.now() - holdMs)
      if (!isLast) await sleep(stepMs)
    }
    await watching
  } finally {
    leaving.abort()
  }
}

type Keep = (moment: Moment) => void

async function followLog(cli: Cli, deployId: string, keep: Keep, signal: AbortSignal): Promise<void> {
  const query = { follow: true }
  for await (const { data } of followEvents(cli, `${deployPath(deployId)}/logs`, { query, signal })) {
    const line = parseLogLine(data)
    keep({ at: line.ts, line })
  }
}

// The change feed only signals that the deploy changed. The history contains its states.
async function followStates(cli: Cli, deployId: string, keep: Keep, signal: AbortSignal): Promise<void> {
  let seen = 0
  for await (const { event, data } of followEvents(cli, '/events', { signal, quiet: true })) {
    if (event === 'change' && parseEvent<{ id: string }>(data, ['id']).id !== deployId) continue
    const states = await throughLosses(signal, () => statesOf(cli, deployId))
    for (const state of states.slice(seen)) keep({ at: state.at, state })
    seen = states.length
    if (states.some(({ name }) => ends.includes(name))) return
  }
}

/**
 * Repeats the request while the server is unreachable. The log stream, followed in parallel, reports the loss
 * and gives up.
 */
async function throughLosses<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      const isLoss = error instanceof CliFailure && error.exitCode === exitCodes.unreachable
      if (!isLoss || signal.aborted) throw error
      await sleep(askAgainMs)
    }
  }
}

// At equal timestamps a line precedes a state: the last lines of a state and its end often share
// a millisecond.
function takeBefore(held: Moment[], instant: number): Moment[] {
  const order = (moment: Moment) => Date.parse(moment.at) + ('state' in moment ? 0.5 : 0)
  held.sort((a, b) => order(a) - order(b))
  const ripe = held.findIndex((moment) => Date.parse(moment.at) > instant)
  return held.splice(0, ripe === -1 ? held.length : ripe)
}

interface ServerClock {
  /** Something of this instant has come. */
  hear(at: string): void
  now(): number
}

/** The event with the smallest delay gives the best estimate of the clock difference. */
function createServerClock(): ServerClock {
  let behindMs = Number.POSITIVE_INFINITY
  return {
    hear(at) {
      behindMs = Math.min(behindMs, Date.now() - Date.parse(at))
    },
    now: () => Date.now() - (Number.isFinite(behindMs) ? behindMs : 0),
  }
}
