// Checks that each state in a job run's history is a legal transition of the chart.
import type { Body } from '../../support/daemon/api.ts'
import type { HistoryLine } from '../settled.ts'

export const finalStates = ['succeeded', 'failed', 'canceled']

/** A copy of the chart, written by hand so that a change of the chart must be repeated here deliberately. */
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

/** A text per fault. */
export function historyFaults(history: HistoryLine[], record: Body): string[] {
  const faults: string[] = []
  if (history[0]?.event !== 'created' || history[0].state !== 'pending') faults.push('does not begin pending')
  for (const [index, { state, status, event, at }] of history.entries()) {
    const region = state.split('.')[0]!
    if ((statusOf[region] ?? region) !== status) faults.push(`${state} is reported as ${status}`)
    const before = history[index - 1]
    if (before === undefined) continue
    if (!follows[before.state]?.includes(state)) faults.push(`${state} follows ${before.state} by ${event}`)
    if (at < before.at) faults.push(`${state} is older than ${before.state} before it`)
  }
  const last = history.at(-1)
  if (last?.status !== record.status) faults.push(`ends ${last?.status}, the record has ${record.status}`)
  return faults
}
