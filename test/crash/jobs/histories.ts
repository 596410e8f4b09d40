// Checks of the histories of job runs: each state follows from the one before by the chart.
import type { Body } from '../../support/api.ts'
import type { HistoryLine } from '../settled.ts'

export const finalStates = ['succeeded', 'failed', 'canceled']

/** The chart once more, on purpose by hand: a change of the chart has to be meant here too. */
const follows: Record<string, string[]> = {
  pending: ['running.starting', 'failing', 'canceling.stopping'],
  'running.starting': ['running.following', 'running.stopping', 'canceling.stopping'],
  'running.following': ['succeeding', 'failing', 'running.stopping', 'canceling.stopping'],
  'running.stopping': ['failing', 'canceling.stopping'],
  'canceling.stopping': ['canceling.clearing'],
  'canceling.clearing': ['canceled'],
  succeeding: ['succeeded'],
  failing: ['failed'],
}
const statusOf: Record<string, string> = {
  canceling: 'canceled',
  succeeding: 'succeeded',
  failing: 'failed',
}

/** In words. */
export function historyFaults(history: HistoryLine[], record: Body): string[] {
  const faults: string[] = []
  if (history[0]?.event !== 'created' || history[0].state !== 'pending') faults.push('does not begin pending')
  for (const [index, { state, status, event, at }] of history.entries()) {
    const region = state.split('.')[0]!
    if ((statusOf[region] ?? region) !== status) faults.push(`${state} is told as ${status}`)
    const before = history[index - 1]
    if (before === undefined) continue
    if (!follows[before.state]?.includes(state)) faults.push(`${state} follows ${before.state} by ${event}`)
    if (at < before.at) faults.push(`${state} is older than ${before.state} before it`)
  }
  const last = history.at(-1)
  if (last?.status !== record.status) faults.push(`ends ${last?.status}, the record says ${record.status}`)
  return faults
}
