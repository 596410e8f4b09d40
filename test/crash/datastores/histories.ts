// Checks that each state in a datastore's history is a legal transition of the chart.
import type { Body } from '../../support/daemon/api.ts'
import type { HistoryLine } from '../settled.ts'

const begin = 'starting.pulling'
const fromAny = ['failed', 'starting.stopping', 'deleting']

/** A copy of the chart, written by hand so that a change of the chart must be repeated here deliberately. */
const follows: Record<string, string[]> = {
  'starting.stopping': [begin, ...fromAny],
  'starting.pulling': ['starting.starting', ...fromAny],
  'starting.starting': ['starting.probing', ...fromAny],
  'starting.probing': ['available', ...fromAny],
  available: [begin, ...fromAny],
  failed: [begin, ...fromAny],
  deleting: ['deleted'],
}
const statusOf: Record<string, string[]> = {
  available: ['available'],
  failed: ['failed'],
  deleting: ['deleting'],
  deleted: ['deleted'],
}
const unsettled = ['creating', 'restarting', 'failed']
/** Its limits change independently of its life, in no fixed order. */
const limitEvent = /^limits\.set$|^applyLimits\./

/** A list of faults. A history of maximum length has lost its middle by design. */
export function historyFaults(history: HistoryLine[], record: Body): string[] {
  const faults: string[] = []
  const states = history.map(({ state }) => lifeOf(state))
  if (history[0]?.event !== 'created' || states[0] !== begin) faults.push('does not start with created')
  let latest = history[0]?.at ?? ''
  for (const [index, { event, status, at }] of history.entries()) {
    const [before, state] = [states[index - 1], states[index]!]
    if (!(statusOf[state] ?? unsettled).includes(status)) faults.push(`${state} is reported as ${status}`)
    if (before === undefined) continue
    if (!limitEvent.test(event) && at < latest) faults.push(`${state} is older than ${before} before it`)
    if (!limitEvent.test(event)) latest = at
    const isSame = state === before && limitEvent.test(event)
    if (!isSame && !follows[before]?.includes(state)) faults.push(`${state} follows ${before} by ${event}`)
  }
  const last = history.at(-1)
  if (last?.status !== record.status) faults.push(`ends ${last?.status}, the record has ${record.status}`)
  return faults
}

/** `wanted.life.starting.pulling limits.settled` is in `starting.pulling`. */
function lifeOf(state: string): string {
  return /^wanted\.life\.(\S+)/.exec(state)?.[1] ?? state
}
