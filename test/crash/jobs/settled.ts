// When all is done: every instant has come to something, every run has ended. And what the API says then.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Api, Body } from '../../support/api.ts'
import type { HistoryLine } from '../settled.ts'
import { stopSchedule } from './acts.ts'
import { type Book, cronServices, type JobEntry, type JobService } from './book.ts'
import { finalStates } from './histories.ts'
import { silentInstants } from './instants.ts'
import type { ShownLine } from './output.ts'
import type { Task } from './tasks.ts'
import { lookAtSchedule } from './users.ts'

export interface SettledRun {
  id: string
  service: JobService
  /** Null for one that a schedule began. */
  entry: JobEntry | null
  task: Task
  /** Null when the daemon does not know it. */
  record: Body | null
  history: HistoryLine[]
  lines: ShownLine[]
  /** The lines as they were sent. */
  sent: string[]
  hasEnd: boolean
}

/** Of one service: what of its instants the runs and the words must cover. */
export interface Schedule {
  service: JobService
  upTo: number
}

const settleMs = 150_000
/** A run begins this long after its instant at most, on a machine that has much else to do. */
const latenessMs = 10_000

/** Waits for every instant that was due, but not for ever; then lets nothing more be due. */
export async function endSchedules(api: Api, book: Book): Promise<Schedule[]> {
  const schedules: Schedule[] = []
  for (const service of cronServices(book)) {
    const upTo = Date.now() - latenessMs
    for (const deadline = Date.now() + settleMs / 2; Date.now() < deadline; await sleep(200)) {
      await lookAtSchedule(book, service)
      const runs = await scheduledRuns(api, service)
      if (silentInstants({ after: service.liveAt, upTo, runs, told: service.told }).length === 0) break
    }
    await stopSchedule(book, service)
    schedules.push({ service, upTo })
  }
  return schedules
}

export async function scheduledRuns(api: Api, { id }: JobService): Promise<Body[]> {
  const jobs: Body[] = await api.get(`/services/${id}/jobs?limit=500`)
  return jobs.filter(({ trigger }) => trigger === 'schedule')
}

export async function settleRuns(api: Api, book: Book): Promise<SettledRun[]> {
  const { ledger } = book
  const deadline = Date.now() + settleMs
  let runs = await readRuns(api, book)
  while (!runs.every(isOver) && Date.now() < deadline) {
    await sleep(300)
    runs = await readRuns(api, book)
  }
  for (const { id, record, history } of runs.filter((one) => !isOver(one)))
    ledger.breach('every run ends', `${id} stays ${history.at(-1)?.state}`, [JSON.stringify(record)])
  for (const run of runs.filter(({ record }) => record !== null)) await readLines(api, run)
  return runs
}

const isOver = ({ record, history }: SettledRun) =>
  record === null || finalStates.includes(history.at(-1)!.state)

/** Those that were asked for, and those that schedules began. */
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
  const found = {
    id,
    service,
    entry,
    task: entry?.task ?? service.ownTask!,
    lines: [],
    sent: [],
    hasEnd: false,
  }
  const { status, body } = await api.call('GET', `/jobs/${id}`)
  if (status === 404) return { ...found, record: null, history: [] }
  return { ...found, record: body, history: await api.get(`/jobs/${id}/history`) }
}

async function readLines(api: Api, run: SettledRun): Promise<void> {
  for await (const { event, data } of api.events(`/jobs/${run.id}/logs`)) {
    if (event === 'end') run.hasEnd = true
    else if (event === 'log') {
      run.sent.push(data)
      run.lines.push(JSON.parse(data))
    }
  }
}
