// Checks of the histories of datastores: each state follows from the one before by the chart.
import type { Body } from '../../support/api.ts'
import type { HistoryLine } from '../settled.ts'

const begin = 'starting.pulling'
const anew = ['failed', 'starting.stopping', 'deleting']

/** The chart once more, on purpose by hand: a change of the chart has to be meant here too. */
const follows: Record<string, string[]> = {
  'starting.stopping': [begin, ...anew],
  'starting.pulling': ['starting.starting', ...anew],
  'starting.starting': ['starting.probing', ...anew],
  'starting.probing': ['available', ...anew],
  available: [begin, ...anew],
  failed: [begin, ...anew],
  deleting: ['deleted'],
}
const statusOf: Record<string, string[]> = {
  available: ['available'],
  failed: ['failed'],
  deleting: ['deleting'],
  deleted: ['deleted'],
}
const meanwhile = ['creating', 'restarting', 'failed']
/** Its limits change while its life stays what it is, and are told in no order with it. */
const beside = /^limits\.set$|^applyLimits\./

/** In words. A history as long as that has a gap in its middle, by intention. */
export function historyFaults(history: HistoryLine[], record: Body): string[] {
  const faults: string[] = []
  const states = history.map(({ state }) => lifeOf(state))
  if (history[0]?.event !== 'created' || states[0] !== begin) faults.push('does not begin as created')
  let latest = history[0]?.at ?? ''
  for (const [index, { event, status, at }] of history.entries()) {
    const [before, state] = [states[index - 1], states[index]!]
    if (!(statusOf[state] ?? meanwhile).includes(status)) faults.push(`${state} is told as ${status}`)
    if (before === undefined) continue
    if (!beside.test(event) && at < latest) faults.push(`${state} is older than ${before} before it`)
    if (!beside.test(event)) latest = at
    const isSame = state === before && beside.test(event)
    if (!isSame && !follows[before]?.includes(state)) faults.push(`${state} follows ${before} by ${event}`)
  }
  const last = history.at(-1)
  if (last?.status !== record.status) faults.push(`ends ${last?.status}, the record says ${record.status}`)
  return faults
}

/** `wanted.life.starting.pulling limits.settled` is in `starting.pulling`. */
function lifeOf(state: string): string {
  return /^wanted\.life\.(\S+)/.exec(state)?.[1] ?? state
}
