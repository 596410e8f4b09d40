// Checks the promises about runs and schedules at the end.
import type { Api, Body } from '../../support/daemon/api.ts'
import type { Drill } from '../drill.ts'
import { type ChartCopy, describeHistory, historyFaults } from '../histories.ts'
import { missedInstants, repeatedInstants } from './instants.ts'
import { overlapFaults, startsOf } from './marks.ts'
import { endFaults, hasEndedItself, outputFaults } from './output.ts'
import { type Schedule, type SettledRun, scheduledRuns } from './settled.ts'
import type { Book } from './users.ts'

type Known = SettledRun & { record: Body }

const chart: ChartCopy = {
  first: 'pending',
  follows: {
    pending: ['running.starting', 'failing', 'canceling.stopping'],
    'running.starting': ['running.following', 'running.stopping', 'canceling.stopping'],
    'running.following': ['succeeding', 'failing', 'running.stopping', 'canceling.stopping'],
    'running.stopping': ['failing', 'canceling.stopping'],
    'canceling.stopping': ['canceling.clearing'],
    'canceling.clearing': ['canceled'],
    succeeding: ['succeeded'],
    failing: ['failed'],
  },
  statusesOf(state) {
    const shown: Record<string, string> = {
      canceling: 'canceled',
      succeeding: 'succeeded',
      failing: 'failed',
    }
    const region = state.split('.')[0]!
    return [shown[region] ?? region]
  },
}

export async function checkPromises(api: Api, book: Book, runs: SettledRun[], schedules: Schedule[]) {
  const { ledger } = book.drill
  for (const { id } of runs.filter(({ record }) => record === null))
    ledger.addViolation('every acknowledged run has a record', `${id} is unknown`)
  const known = runs.filter((run): run is Known => run.record !== null)
  for (const run of known) {
    const { id, record, history, task, lines } = run
    const said = lines.slice(-12).map(({ stream, line }) => `log: ${stream} ${line}`)
    const evidence = [JSON.stringify(record), ...describeHistory(history), ...said]
    for (const [rule, fault] of runFaults(book, run, runs))
      ledger.addViolation(rule, `${id} (${task.kind}): ${fault}`, evidence)
  }
  await checkNobodyElse(api, book, runs)
  for (const schedule of schedules) await checkInstants(api, book.drill, schedule)
  const rule = 'own runs of a cron service never run at the same time'
  for (const service of book.services) {
    const own = known.filter((run) => run.service === service && run.record.overlap !== null)
    for (const fault of overlapFaults(book.marks, new Set(own.map(({ id }) => id))))
      ledger.addViolation(rule, `${service.name}: ${fault}`)
  }
}

function* runFaults(book: Book, run: Known, runs: SettledRun[]): Generator<[rule: string, fault: string]> {
  const { id, record, history, task, lines, entry } = run
  const ended = { record, lines, task, isEngineDisturbed: isEngineDisturbed(book.drill, record) }
  const isCanceled = record.status === 'canceled'
  for (const fault of historyFaults(chart, history, record)) yield ['histories follow the chart', fault]
  for (const fault of outputFaults(ended)) yield ['a log has every line once, and the outcome last', fault]
  if (record.finished_at === null) yield ['every run ends', 'its record has no end']
  const cancelFault = isCanceled ? findCancelFault(run, runs) : null
  if (cancelFault) yield ['a run is canceled for a reason, and shows it', cancelFault]
  for (const fault of isCanceled ? [] : endFaults(ended)) yield ['a run that ended has its exit code', fault]
  if (!isCanceled && entry?.cancel === 'accepted')
    yield ['a canceled run has the outcome canceled', `is ${record.status}`]
  const starts = startsOf(book.marks, id)
  if (starts > 1) yield ['no run is started twice', `${starts} starts`]
  const mustHaveStarted = !isCanceled && hasEndedItself(ended) && !ended.isEngineDisturbed
  if (mustHaveStarted && starts === 0) yield ['a run that ended has run', 'it never started']
}

/** Whether Docker was down at some time during a run. */
function isEngineDisturbed({ incidents }: Drill, { created_at, finished_at }: Body): boolean {
  return incidents.wasEngineAway(Date.parse(created_at), finished_at ? Date.parse(finished_at) : Date.now())
}

/** Canceled by a request, or by a newer run of a service with `overlap: replace`. */
function findCancelFault({ entry, record, service }: Known, runs: SettledRun[]): string | null {
  if (record.error === 'canceled by the server token')
    return entry && entry.cancel !== 'none' ? null : 'it was canceled without a request'
  const other = /^canceled by (job-\w+), which replaces it$/.exec(record.error)?.[1]
  const by = runs.find(({ id }) => id === other)
  const isReplaced = by?.service === service && service.cron?.overlap === 'replace' && by.id > record.id
  return isReplaced && by.record?.overlap === 'replace' && record.overlap === 'replace' ? null : record.error
}

/** There is no run without a request, and no mark of an unknown run. */
async function checkNobodyElse(api: Api, { drill, services, entries, marks }: Book, runs: SettledRun[]) {
  const known = runs.map(({ id }) => id)
  for (const service of services) {
    const jobs: Body[] = await api.get(`/services/${service.id}/jobs?limit=500`)
    for (const { id, trigger } of jobs)
      if (trigger === 'manual' && !entries.has(id))
        drill.ledger.addViolation('a request is executed once', `${id} exists, but was never acknowledged`)
  }
  for (const id of new Set(marks.map((mark) => mark.id)))
    if (!known.includes(id)) drill.ledger.addViolation('nothing runs without a record', `${id} left marks`)
}

async function checkInstants(api: Api, { ledger }: Drill, { service, upTo }: Schedule): Promise<void> {
  const { name, liveAt: after, skips } = service
  const runs = await scheduledRuns(api, service)
  const skipped = runs.filter(({ scheduled_for }) => skips.has(Date.parse(scheduled_for)))
  const rules = {
    'no due time has two runs': repeatedInstants(runs),
    'every due time has a run or a reported skip': missedInstants({ after, upTo, runs, skips }),
    'a reported skip has no run': skipped.map(({ id }) => id),
  }
  for (const [rule, faults] of Object.entries(rules))
    for (const fault of faults) ledger.addViolation(rule, `${name}: ${fault}`)
}
