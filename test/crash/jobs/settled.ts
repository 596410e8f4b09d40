// Waits until every due time is handled and every run has ended, and reads the state from the API.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Api, Body } from '../../support/daemon/api.ts'
import type { HistoryLine } from '../histories.ts'
import { missedInstants } from './instants.ts'
import type { ShownLine } from './output.ts'
import type { Task } from './tasks.ts'
import { type Book, cronServices, type JobEntry, type JobService, lookAtSchedule } from './users.ts'

export interface SettledRun {
  id: string
  service: JobService
  /** Null for a scheduled run. */
  entry: JobEntry | null
  task: Task
  /** Null if the daemon does not know it. */
  record: Body | null
  history: HistoryLine[]
  lines: ShownLine[]
}

/** The due times of a service that its runs and reported skips must cover. */
export interface Schedule {
  service: JobService
  upTo: number
}

const settleMs = 150_000
/** The maximum delay of a run on a busy machine. */
const latenessMs = 10_000
const finalStates = ['succeeded', 'failed', 'canceled']

/** Waits, with a timeout, until every due time is handled, then stops the schedules. */
export async function endSchedules(api: Api, book: Book): Promise<Schedule[]> {
  const schedules: Schedule[] = []
  for (const service of cronServices(book)) {
    const { id, liveAt: after, skips } = service
    const upTo = Date.now() - latenessMs
    for (const deadline = Date.now() + settleMs / 2; Date.now() < deadline; await sleep(200)) {
      await lookAtSchedule(book, service)
      const runs = await scheduledRuns(api, service)
      if (missedInstants({ after, upTo, runs, skips }).length === 0) break
    }
    // Never due during the run.
    await api.patch(`/services/${id}`, { schedule: '0 0 1 1 *' })
    schedules.push({ service, upTo })
  }
  return schedules
}

export async function scheduledRuns(api: Api, { id }: JobService): Promise<Body[]> {
  const jobs: Body[] = await api.get(`/services/${id}/jobs?limit=500`)
  return jobs.filter(({ trigger }) => trigger === 'schedule')
}

export async function settleRuns(api: Api, book: Book): Promise<SettledRun[]> {
  const deadline = Date.now() + settleMs
  let runs = await readRuns(api, book)
  while (!runs.every(hasEnded) && Date.now() < deadline) {
    await sleep(300)
    runs = await readRuns(api, book)
  }
  for (const { id, record, history } of runs.filter((run) => !hasEnded(run))) {
    const text = `${id} stays ${history.at(-1)?.state}`
    book.drill.ledger.addViolation('every run ends', text, [JSON.stringify(record)])
  }
  for (const run of runs.filter(({ record }) => record !== null))
    for await (const { event, data } of api.events(`/jobs/${run.id}/logs`))
      if (event === 'log') run.lines.push(JSON.parse(data))
  return runs
}

const hasEnded = ({ record, history }: SettledRun) =>
  record === null ||
  // The run may have moved on between the two requests.
  (finalStates.includes(history.at(-1)!.state) && record.status === history.at(-1)!.status)

/** Requested and scheduled runs. */
async function readRuns(api: Api, book: Book): Promise<SettledRun[]> {
  const runs: SettledRun[] = []
  for (const entry of book.entries.values()) runs.push(await readRun(api, entry.id, entry.service, entry))
  for (const service of cronServices(book))
    for (const { id } of await scheduledRuns(api, service)) runs.push(await readRun(api, id, service, null))
  return runs
}

async function readRun(
  api: Api,
  id: string,
  service: JobService,
  entry: JobEntry | null,
): Promise<SettledRun> {
  const run = { id, service, entry, task: entry?.task ?? service.cron!.task, lines: [] }
  const { status, body } = await api.call('GET', `/jobs/${id}`)
  if (status === 404) return { ...run, record: null, history: [] }
  return { ...run, record: body, history: await api.get(`/jobs/${id}/history`) }
}
