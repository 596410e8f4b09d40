// Checks that each state in a history follows from the one before by the chart, and that there is one end.
import type { Body } from '../support/daemon/api.ts'

export interface HistoryLine {
  at: string
  event: string
  state: string
  status: string
}

/** A copy of a chart, written by hand so that a change of the chart must be repeated here deliberately. */
export interface ChartCopy {
  first: string
  follows: Record<string, string[]>
  /** The statuses that a state may be shown with. */
  statusesOf(state: string): string[]
  /** The part of a state that `follows` describes; the whole by default. */
  regionOf?(state: string): string
  /** Events of another region: they come at any time, and change nothing in this one. */
  aside?: RegExp
}

/** A text per fault. */
export function historyFaults(chart: ChartCopy, history: readonly HistoryLine[], record: Body): string[] {
  const { first, follows, statusesOf, regionOf = (state) => state, aside } = chart
  const faults: string[] = []
  let before = ''
  let latest = ''
  for (const { state: whole, status, event, at } of history) {
    const state = regionOf(whole)
    const isAside = aside?.test(event) && state === before
    const isLegal = before === '' ? state === first && event === 'created' : follows[before]?.includes(state)
    if (!statusesOf(state).includes(status)) faults.push(`${state} is reported as ${status}`)
    if (!isLegal && !isAside) faults.push(`${state} follows ${before || 'nothing'} by ${event}`)
    if (!isAside && at < latest) faults.push(`${state} is older than ${before} before it`)
    if (!isAside) latest = at
    before = state
  }
  const last = history.at(-1)
  if (last?.status !== record.status) faults.push(`ends ${last?.status}, the record has ${record.status}`)
  return faults
}

export function describeHistory(history: readonly HistoryLine[]): string[] {
  return history.slice(-40).map(({ at, event, state, status }) => `${at} ${event} -> ${state} (${status})`)
}

/** Whether the daemon was killed in that state; `restarts` are the starts of its lives. */
export function wasInterrupted(history: readonly HistoryLine[], state: string, restarts: number[]): boolean {
  const index = history.findIndex((line) => line.state === state)
  const next = history[index + 1]
  if (index < 0 || !next) return false
  const [from, to] = [Date.parse(history[index]!.at), Date.parse(next.at)]
  return restarts.some((at) => at > from && at < to)
}
