// A deploy as one sequence: the lines of its log and the states of its chart. They arrive on two streams, so
// each event is delayed a little and sorted by the server's time, whose clock may differ from ours.

import type { HistoryEntry } from '../../api/actor.ts'
import type { Deploy } from '../../api/deploy.ts'
import { sleep } from '../../async/sleep.ts'
import { deployPath } from '../client/client.ts'
import { followEvents, type LogLine, parseEvent, parseLogLine } from '../client/event-stream.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure, exitCodes } from '../failure.ts'

export interface DeployState {
  at: string
  /** The state without its parents: `building`. */
  name: string
  status: string
}

export type DeployEvent = { at: string; line: LogLine } | { at: string; state: DeployState }

export interface DeployWatch {
  /** Ends when the deploy is live, failed or canceled, or with the signal. */
  events: AsyncGenerator<DeployEvent>
  /** The server's clock as of the newest event, delayed by the time that events are held back. */
  now(): number
}

const reorderDelayMs = 200
const pollMs = 40
const retryMs = 500
/** The log is closed when the cleanup starts, so these states end the wait. */
const finalStates = ['live', 'draining', 'deactivated', 'failing', 'failed', 'canceling', 'canceled']

export function watchDeploy(cli: Cli, deployId: string): DeployWatch {
  const clock = createServerClock()
  return { events: mergeEvents(cli, deployId, clock), now: () => clock.now() - reorderDelayMs }
}

export async function fetchStates(cli: Cli, deployId: string): Promise<DeployState[]> {
  return toStates(await cli.client.call<HistoryEntry[]>('GET', `${deployPath(deployId)}/history`))
}

/** Skips transitions within a state. */
export function toStates(history: HistoryEntry[]): DeployState[] {
  const states = history.map(({ at, state, status }) => ({ at, name: state.split('.').at(-1)!, status }))
  return states.filter(({ name }, index) => name !== states[index - 1]?.name)
}

export function hasEnded({ status }: Pick<Deploy, 'status'>): boolean {
  return status !== 'queued' && status !== 'running'
}

async function* mergeEvents(cli: Cli, deployId: string, clock: ServerClock): AsyncGenerator<DeployEvent> {
  const buffer: DeployEvent[] = []
  const stopping = new AbortController()
  const add = (event: DeployEvent) => {
    clock.observe(event.at)
    buffer.push(event)
  }
  const watching = Promise.all([
    followLog(cli, deployId, add, stopping.signal),
    followStates(cli, deployId, add, stopping.signal),
  ])
  let isAtEnd = false
  const end = () => {
    isAtEnd = true
  }
  watching.then(end, end)
  try {
    for (let isLast = false; !isLast; ) {
      isLast = isAtEnd
      yield* takeUpTo(buffer, isLast ? Number.POSITIVE_INFINITY : clock.now() - reorderDelayMs)
      if (!isLast) await sleep(pollMs)
    }
    await watching
  } finally {
    stopping.abort()
  }
}

type AddEvent = (event: DeployEvent) => void

async function followLog(cli: Cli, deployId: string, add: AddEvent, signal: AbortSignal): Promise<void> {
  const query = { follow: true }
  for await (const { data } of followEvents(cli, `${deployPath(deployId)}/logs`, { query, signal })) {
    const line = parseLogLine(data)
    add({ at: line.ts, line })
  }
}

// The change feed only signals that the deploy changed. The history contains its states.
async function followStates(cli: Cli, deployId: string, add: AddEvent, signal: AbortSignal): Promise<void> {
  let seen = 0
  for await (const { event, data } of followEvents(cli, '/events', { signal, quiet: true })) {
    if (event === 'change' && parseEvent<{ id: string }>(data, ['id']).id !== deployId) continue
    const states = await retryWhileUnreachable(signal, () => fetchStates(cli, deployId))
    for (const state of states.slice(seen)) add({ at: state.at, state })
    seen = states.length
    if (states.some(({ name }) => finalStates.includes(name))) return
  }
}

/** Repeats it while the server is unreachable. The log stream reports the loss and gives up. */
async function retryWhileUnreachable<T>(signal: AbortSignal, request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request()
    } catch (error) {
      const isUnreachable = error instanceof CliFailure && error.exitCode === exitCodes.unreachable
      if (!isUnreachable || signal.aborted) throw error
      await sleep(retryMs)
    }
  }
}

// At equal times a line precedes a state: a state's last lines and its end often share a millisecond.
function takeUpTo(buffer: DeployEvent[], instant: number): DeployEvent[] {
  const order = (event: DeployEvent) => Date.parse(event.at) + ('state' in event ? 0.5 : 0)
  buffer.sort((a, b) => order(a) - order(b))
  const firstLater = buffer.findIndex((event) => Date.parse(event.at) > instant)
  return buffer.splice(0, firstLater === -1 ? buffer.length : firstLater)
}

interface ServerClock {
  observe(at: string): void
  now(): number
}

/** The event with the smallest delay gives the best estimate of the clock difference. */
function createServerClock(): ServerClock {
  let behindMs = Number.POSITIVE_INFINITY
  return {
    observe(at) {
      behindMs = Math.min(behindMs, Date.now() - Date.parse(at))
    },
    now: () => Date.now() - (Number.isFinite(behindMs) ? behindMs : 0),
  }
}
