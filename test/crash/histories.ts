// Checks of the histories: each state follows from the one before by the chart, and there is one end.
import type { Ledger } from './ledger.ts'
import { ends, type HistoryLine, type Settled } from './settled.ts'

/** A copy of the chart, written by hand so that a change of the chart must be repeated here deliberately. */
const follows: Record<string, string[]> = {
  queued: ['running.fetching', 'running.pulling', 'running.starting', 'failing', 'canceling'],
  'running.fetching': ['running.building', 'failing', 'canceling'],
  'running.building': ['running.preparing', 'running.starting', 'failing', 'canceling'],
  'running.pulling': ['running.preparing', 'running.starting', 'failing', 'canceling'],
  'running.preparing': ['running.starting', 'failing', 'canceling'],
  'running.starting': ['running.checking', 'failing', 'canceling'],
  'running.checking': ['running.switching', 'failing', 'canceling'],
  'running.switching': ['live', 'failing', 'canceling'],
  live: ['live', 'draining'],
  draining: ['deactivated'],
  failing: ['failed'],
  canceling: ['canceled'],
}

export function checkHistories(ledger: Ledger, { deploys }: Settled): void {
  for (const { entry, history } of deploys) {
    if (history.length === 0) continue
    const faults = [...faultsOf(history)]
    const evidence = history.map(({ at, event, state }) => `${at} ${event} -> ${state}`)
    for (const fault of faults)
      ledger.addViolation('histories follow the chart', `${entry.id}: ${fault}`, evidence)
  }
}

function* faultsOf(history: HistoryLine[]) {
  if (history[0]!.event !== 'created' || history[0]!.state !== 'queued') yield 'does not start with created'
  for (const [index, { state, at }] of history.entries()) {
    const before = history[index - 1]
    if (!before) continue
    if (!follows[before.state]?.includes(state)) yield `${state} follows ${before.state}`
    if (at < before.at) yield `${state} is older than ${before.state} before it`
  }
  const ended = history.filter(({ state }) => ends.includes(state) && state !== 'live')
  if (ended.length > 1) yield `has ${ended.length} ends`
}

/** Whether the daemon was killed in that state; `restarts` are the starts of its lives. */
export function wasInterrupted(history: HistoryLine[], state: string, startsAt: number[]): boolean {
  const index = history.findIndex((line) => line.state === state)
  const next = history[index + 1]
  if (index < 0 || !next) return false
  const [from, to] = [Date.parse(history[index]!.at), Date.parse(next.at)]
  return startsAt.some((at) => at > from && at < to)
}
