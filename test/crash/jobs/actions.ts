// Actions of users on job runs: creating services, starting and canceling runs, and repeating requests.
// Expectations are recorded only for acknowledged requests.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Body } from '../../support/daemon/api.ts'
import { createChance } from '../random.ts'
import type { Book, JobEntry, JobService, Overlap } from './book.ts'
import { scriptOf, type Task, type TaskKind, taskOf } from './tasks.ts'

const timeoutMs = 150_000
/** The commands of the cron services. */
const ownTasks: Record<Overlap, TaskKind> = { skip: 'slow', queue: 'failing', replace: 'slow' }

/** A service for requested runs, which share its disk; its instance is idle. */
export function createTools(book: Book, repoUrl: string): Promise<JobService> {
  const body = { name: 'tools', type: 'background_worker', repo_url: repoUrl, drain_seconds: 0 }
  const rest = { overlap: null, ownTask: null }
  return createService(book, { ...body, disk_mount_path: '/data', start_command: 'exec sleep 100000' }, rest)
}

export function createCron(book: Book, repoUrl: string, overlap: Overlap, seed: number): Promise<JobService> {
  const ownTask = taskOf(ownTasks[overlap], createChance(seed))
  const body = {
    name: `cron-${overlap}`,
    type: 'cron_job',
    repo_url: repoUrl,
    schedule: '* * * * *',
    overlap,
  }
  const start_command = scriptOf(ownTask, book.markPort)
  return createService(book, { ...body, start_command }, { overlap, ownTask })
}

async function createService(
  book: Book,
  body: Record<string, unknown> & { name: string },
  rest: Pick<JobService, 'overlap' | 'ownTask'>,
): Promise<JobService> {
  const created = await must(book, 201, { method: 'POST', path: '/services', body, key: randomUUID() })
  await untilLive(book, created.latest_deploy.id)
  const history: Body[] = await must(book, 200, {
    method: 'GET',
    path: `/deploys/${created.latest_deploy.id}/history`,
  })
  const liveAt = Date.parse(history.find(({ status }) => status === 'live').at)
  const service: JobService = { id: created.id, name: body.name, ...rest, liveAt, skips: new Set() }
  book.services.push(service)
  return service
}

async function untilLive(book: Book, deployId: string): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; ; await sleep(50)) {
    const { status, error } = await must(book, 200, { method: 'GET', path: `/deploys/${deployId}` })
    if (status === 'live') return
    const hasFailed = !['queued', 'running'].includes(status) || Date.now() > deadline
    if (hasFailed) throw new Error(`the first deploy is ${status}: ${error}`)
  }
}

export interface RunRequest {
  task: Task
  /** Null for the service's own command. */
  command: string | null
}

/** Only the drill knows the task of a run. */
export const runOf = (task: Task, { markPort }: Book): RunRequest => ({
  task,
  command: scriptOf(task, markPort),
})

export async function startRun(
  book: Book,
  service: JobService,
  { task, command }: RunRequest,
): Promise<JobEntry> {
  const path = `/services/${service.id}/jobs`
  const requested = { path, key: randomUUID(), body: command === null ? {} : { command } }
  const { id } = await must(book, 202, { method: 'POST', ...requested })
  const entry: JobEntry = { id, service, task, isOwn: command === null, ...requested, cancel: 'none' }
  book.entries.set(id, entry)
  book.followers.follow(id)
  return entry
}

export async function cancelRun(book: Book, entry: JobEntry): Promise<void> {
  entry.cancel = 'asked'
  const path = `/jobs/${entry.id}/cancel`
  const response = await book.client.request({ method: 'POST', path, key: randomUUID() })
  const isLate = response.status === 409 && response.body.code === 'not_cancelable'
  if (response.status >= 300 && !isLate) return unexpected(book, `POST ${path}`, response)
  entry.cancel = isLate ? 'refused' : 'accepted'
  if (!isLate && response.body.status !== 'canceled')
    book.ledger.addViolation('a canceled run shows it at once', `${entry.id} is ${response.body.status}`)
}

/** Repeats a request with its key. */
export async function repeatRun(book: Book, { id, path, key, body }: JobEntry): Promise<void> {
  const response = await book.client.request({ method: 'POST', path, key, body })
  book.ledger.figures.duplicates++
  if (response.status === 202 && response.body.id === id) return
  const text = `POST ${path} gave ${id}, then ${wordsOf(response)}`
  book.ledger.addViolation('the same key gives the same run', text)
}

/** Sets a schedule that does not come due during the run. */
export async function stopSchedule(book: Book, { id }: JobService): Promise<void> {
  await must(book, 200, { method: 'PATCH', path: `/services/${id}`, body: { schedule: '0 0 1 1 *' } })
}

/** Deletes the service with its disk, and waits until it is removed. */
export async function removeService(book: Book, { id }: JobService): Promise<void> {
  const path = `/services/${id}`
  const response = await book.client.request({
    method: 'DELETE',
    path: `${path}?delete_disk=true&purge=true`,
  })
  if (response.status >= 300) return unexpected(book, `DELETE ${path}`, response)
  for (const deadline = Date.now() + timeoutMs; ; await sleep(50)) {
    if ((await book.client.request({ method: 'GET', path })).status === 404) return
    if (Date.now() > deadline)
      return book.ledger.addViolation('a deleted service is removed', `${id} still exists`)
  }
}

type Asked = Parameters<Book['client']['request']>[0]

async function must(book: Book, status: number, request: Asked): Promise<Body> {
  const response = await book.client.request(request)
  if (response.status === status) return response.body
  throw new Error(`${request.method} ${request.path}: ${wordsOf(response)}`)
}

function unexpected({ ledger }: Book, what: string, response: Answer): void {
  ledger.addViolation('responses follow the chart', `${what}: ${wordsOf(response)}`)
}

function wordsOf({ status, body }: Answer): string {
  return `${status} ${body?.code ?? body?.id}: ${body?.detail ?? body?.status}`
}
