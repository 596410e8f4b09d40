// A deploy as one sequence: the lines of its log, which are streamed, and the states of its chart.

import type { HistoryEntry } from '../../api/deploy.ts'
import { sleep } from '../../async/sleep.ts'
import { deployPath } from '../client/client.ts'
import { followEvents, type LogLine, parseLogLine } from '../client/event-stream.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure, exitCodes } from '../failure.ts'

export interface DeployState {
  at: string
  /** The state without its parents: `building`. */
  name: string
  status: string
}

export type DeployEvent = { at: string; line: LogLine } | { at: string; state: DeployState }

const pollMs = 250
/** The log is closed when the cleanup starts, so these states end the wait. */
const finalStates = ['live', 'draining', 'deactivated', 'failing', 'failed', 'canceling', 'canceled']

export async function fetchStates(cli: Cli, deployId: string): Promise<DeployState[]> {
  const history = await cli.client.call<HistoryEntry[]>('GET', `${deployPath(deployId)}/history`)
  const states = history.map(({ at, state, status }) => ({ at, name: state.split('.').at(-1)!, status }))
  // Without the transitions within a state.
  return states.filter(({ name }, index) => name !== states[index - 1]?.name)
}

/** Ends when the deploy is live, failed or canceled. */
export async function* watchDeploy(cli: Cli, deployId: string): AsyncGenerator<DeployEvent> {
  const lines: LogLine[] = []
  const stopping = new AbortController()
  let isLogOver = false
  const reading = readLog(cli, deployId, lines, stopping.signal).finally(() => {
    isLogOver = true
  })
  reading.catch(() => {})
  try {
    for (let seen = 0; ; await sleep(pollMs, cli.signal)) {
      const isLast = isLogOver
      if (isLast) await reading
      // The states are complete for the lines that are here now. Later lines may belong to a later state.
      const certain = lines.length
      const states = await fetchStates(cli, deployId).catch((error: unknown) => {
        if (isLast || !isUnreachable(error)) throw error
      })
      if (!states) continue
      const newest = states.at(-1)?.at ?? ''
      const taken = lines.splice(0, Math.max(certain, lines.findLastIndex(({ ts }) => ts <= newest) + 1))
      yield* inOrder(taken, states.slice(seen))
      seen = states.length
      if (isLast && states.some(({ name }) => finalStates.includes(name))) return
    }
  } finally {
    stopping.abort()
  }
}

async function readLog(cli: Cli, deployId: string, lines: LogLine[], signal: AbortSignal): Promise<void> {
  const options = { query: { follow: true }, signal }
  for await (const { data } of followEvents(cli, `${deployPath(deployId)}/logs`, options)) {
    lines.push(parseLogLine(data))
  }
}

/** The log stream reports the loss and gives up. */
function isUnreachable(error: unknown): boolean {
  return error instanceof CliFailure && error.exitCode === exitCodes.unreachable
}

// At equal times a line precedes a state: a state's last lines and its end often share a millisecond.
function inOrder(lines: LogLine[], states: DeployState[]): DeployEvent[] {
  const events = [
    ...lines.map((line) => ({ at: line.ts, line })),
    ...states.map((state) => ({ at: state.at, state })),
  ]
  return events.sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
}
