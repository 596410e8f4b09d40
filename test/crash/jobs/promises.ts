// Checks the promises about runs and schedules at the end.
import type { Api, Body } from '../../support/daemon/api.ts'
import { type Book, isEngineDisturbed } from './book.ts'
import { historyFaults } from './histories.ts'
import { missedInstants, repeatedInstants } from './instants.ts'
import { type Mark, overlapFaults, startsOf } from './marks.ts'
import { endFaults, hasEndedItself, outputFaults } from './output.ts'
import { type Schedule, type SettledRun, scheduledRuns } from './settled.ts'

type Known = SettledRun & { record: Body }

export interface Found {
  runs: SettledRun[]
  schedules: Schedule[]
  marks: readonly Mark[]
}

export async function checkPromises(api: Api, book: Book, found: Found): Promise<void> {
  const { ledger } = book
  for (const { id } of found.runs.filter(({ record }) => record === null))
    ledger.addViolation('every acknowledged run has a record', `${id} is unknown`)
  const known = found.runs.filter((run): run is Known => run.record !== null)
  for (const run of known) checkRun(book, run, found)
  await checkNobodyElse(api, book, found)
  for (const schedule of found.schedules) await checkInstants(api, book, schedule)
  for (const service of book.services) {
    const serviceRuns = known.filter((run) => run.service === service && run.record.overlap !== null)
    for (const fault of overlapFaults(found.marks, new Set(serviceRuns.map(({ id }) => id))))
      ledger.addViolation(
        'own runs of a cron service never run at the same time',
        `${service.name}: ${fault}`,
      )
  }
}

function checkRun(book: Book, run: Known, { runs, marks }: Found): void {
  const { id, record, history, task, lines } = run
  const evidence = [
    JSON.stringify(record),
    ...history.map(({ at, event, state }) => `${at} ${event} -> ${state}`),
    ...lines.slice(-12).map(({ stream, line }) => `log: ${stream} ${line}`),
  ]
  const tell = (rule: string, fault: string) =>
    book.ledger.addViolation(rule, `${id} (${task.kind}): ${fault}`, evidence)
  const ended = { record, lines, task, isEngineDisturbed: isEngineDisturbed(book, record) }
  for (const fault of historyFaults(history, record)) tell('histories follow the chart', fault)
  for (const fault of outputFaults(ended)) tell('a log has every line once, and the outcome last', fault)
  if (!run.hasEnd) tell('logs end', 'its log has no end')
  if (record.finished_at === null) tell('every run ends', 'its record has no end')
  if (record.status === 'canceled') {
    const fault = cancelFault(run, runs)
    if (fault) tell('a run is canceled for a reason, and shows it', fault)
  } else {
    for (const fault of endFaults(ended)) tell('a run that ended has its exit code', fault)
    if (run.entry?.cancel === 'accepted')
      tell('a canceled run has the outcome canceled', `is ${record.status}`)
  }
  const starts = startsOf(marks, id)
  if (starts > 1) tell('no run is started twice', `${starts} starts`)
  const mustHaveStarted = record.status !== 'canceled' && hasEndedItself(ended) && !ended.isEngineDisturbed
  if (mustHaveStarted && starts === 0) tell('a run that ended has run', 'it never started')
  checkFollower(book, run)
}

/** Canceled by a request, or by a newer run of a service with `overlap: replace`. */
function cancelFault({ entry, record, service }: Known, runs: SettledRun[]): string | null {
  if (record.error === 'canceled by the server token')
    return entry && entry.cancel !== 'none' ? null : 'it was canceled without a request'
  const other = /^canceled by (job-\w+), which replaces it$/.exec(record.error)?.[1]
  const by = runs.find(({ id }) => id === other)
  const isReplaced = by?.service === service && service.overlap === 'replace' && by.id > record.id
  return isReplaced && by.record?.overlap === 'replace' && record.overlap === 'replace' ? null : record.error
}

function checkFollower({ ledger, followers }: Book, { id, sent }: Known): void {
  const seen = followers.all.find((entry) => entry.id === id)
  if (!seen) return
  const at = sent.findIndex((line, index) => line !== seen.lines[index])
  if (seen.isEnded && seen.lines.length === sent.length && at < 0) return
  const text = `${id}: ${seen.lines.length} lines were shown, ${sent.length} are stored, ${at} differs`
  ledger.addViolation('followers see every line once', text, [
    ...sent.slice(-5),
    '---',
    ...seen.lines.slice(-5),
  ])
}

/** There is no run without a request, and no mark of an unknown run. */
async function checkNobodyElse(api: Api, { ledger, services, entries }: Book, { runs, marks }: Found) {
  const known = new Set(runs.map(({ id }) => id))
  for (const { id: serviceId } of services) {
    const jobs: Body[] = await api.get(`/services/${serviceId}/jobs?limit=500`)
    for (const { id, trigger } of jobs)
      if (trigger === 'manual' && !entries.has(id))
        ledger.addViolation('a request is executed once', `${id} exists, but was never acknowledged`)
  }
  for (const id of new Set(marks.map((mark) => mark.id)))
    if (!known.has(id)) ledger.addViolation('nothing runs without a record', `${id} left marks`)
}

async function checkInstants(api: Api, { ledger }: Book, { service, upTo }: Schedule): Promise<void> {
  const runs = await scheduledRuns(api, service)
  for (const fault of repeatedInstants(runs))
    ledger.addViolation('no due time has two runs', `${service.name}: ${fault}`)
  const { liveAt: after, skips } = service
  for (const instant of missedInstants({ after, upTo, runs, skips }))
    ledger.addViolation('every due time has a run or a reported skip', `${service.name}: ${instant}`)
  for (const { id, scheduled_for } of runs)
    if (skips.has(Date.parse(scheduled_for)))
      ledger.addViolation('a reported skip has no run', `${service.name}: ${id}`)
}
