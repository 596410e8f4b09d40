// What people do with job runs: making services, asking for runs, canceling them, and asking again with the
// same key.
// What they expect in the end is written down only when the request was acknowledged.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Body } from '../../support/api.ts'
import { createChance } from '../chance.ts'
import type { Book, JobEntry, JobService, Overlap } from './book.ts'
import { scriptOf, type Task, type TaskKind, taskOf } from './tasks.ts'

const patienceMs = 150_000
/** How the own runs of the cron services go. */
const ownTasks: Record<Overlap, TaskKind> = { skip: 'slow', queue: 'failing', replace: 'slow' }

/** A service whose runs are asked for, with a disk that they share; its instance does nothing. */
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
  const made = await must(book, 201, { method: 'POST', path: '/services', body, key: randomUUID() })
  await untilLive(book, made.latest_deploy.id)
  const history: Body[] = await must(book, 200, {
    method: 'GET',
    path: `/deploys/${made.latest_deploy.id}/history`,
  })
  const liveAt = Date.parse(history.find(({ status }) => status === 'live').at)
  const service: JobService = { id: made.id, name: body.name, ...rest, liveAt, told: new Set() }
  book.services.push(service)
  return service
}

async function untilLive(book: Book, deployId: string): Promise<void> {
  for (const deadline = Date.now() + patienceMs; ; await sleep(50)) {
    const { status, error } = await must(book, 200, { method: 'GET', path: `/deploys/${deployId}` })
    if (status === 'live') return
    const isVain = !['queued', 'running'].includes(status) || Date.now() > deadline
    if (isVain) throw new Error(`the first deploy is ${status}: ${error}`)
  }
}

export interface RunAsked {
  task: Task
  /** Null for what the service itself is set to run. */
  command: string | null
}

/** What the run would do is known here alone. */
export const runOf = (task: Task, { markPort }: Book): RunAsked => ({
  task,
  command: scriptOf(task, markPort),
})

export async function startRun(
  book: Book,
  service: JobService,
  { task, command }: RunAsked,
): Promise<JobEntry> {
  const path = `/services/${service.id}/jobs`
  const asked = { path, key: randomUUID(), body: command === null ? {} : { command } }
  const { id } = await must(book, 202, { method: 'POST', ...asked })
  const entry: JobEntry = { id, service, task, isOwn: command === null, ...asked, cancel: 'none' }
  book.entries.set(id, entry)
  book.followers.follow(id)
  return entry
}

export async function cancelRun(book: Book, entry: JobEntry): Promise<void> {
  entry.cancel = 'asked'
  const path = `/jobs/${entry.id}/cancel`
  const answer = await book.client.ask({ method: 'POST', path, key: randomUUID() })
  const isLate = answer.status === 409 && answer.body.code === 'not_cancelable'
  if (answer.status >= 300 && !isLate) return unexpected(book, `POST ${path}`, answer)
  entry.cancel = isLate ? 'refused' : 'accepted'
  if (!isLate && answer.body.status !== 'canceled')
    book.ledger.breach('a canceled run says so at once', `${entry.id} is ${answer.body.status}`)
}

/** The same request with the same key. */
export async function repeatRun(book: Book, { id, path, key, body }: JobEntry): Promise<void> {
  const answer = await book.client.ask({ method: 'POST', path, key, body })
  book.ledger.figures.duplicates++
  if (answer.status === 202 && answer.body.id === id) return
  const text = `POST ${path} gave ${id}, then ${wordsOf(answer)}`
  book.ledger.breach('the same key gives the same run', text)
}

/** From now on nothing is due for long. */
export async function stopSchedule(book: Book, { id }: JobService): Promise<void> {
  await must(book, 200, { method: 'PATCH', path: `/services/${id}`, body: { schedule: '0 0 1 1 *' } })
}

/** Deletes with the disk, and waits until it is gone. */
export async function removeService(book: Book, { id }: JobService): Promise<void> {
  const path = `/services/${id}`
  const answer = await book.client.ask({ method: 'DELETE', path: `${path}?delete_disk=true&purge=true` })
  if (answer.status >= 300) return unexpected(book, `DELETE ${path}`, answer)
  for (const deadline = Date.now() + patienceMs; ; await sleep(50)) {
    if ((await book.client.ask({ method: 'GET', path })).status === 404) return
    if (Date.now() > deadline) return book.ledger.breach('a deleted service goes', `${id} is still there`)
  }
}

type Asked = Parameters<Book['client']['ask']>[0]

async function must(book: Book, status: number, request: Asked): Promise<Body> {
  const answer = await book.client.ask(request)
  if (answer.status === status) return answer.body
  throw new Error(`${request.method} ${request.path}: ${wordsOf(answer)}`)
}

function unexpected({ ledger }: Book, what: string, answer: Answer): void {
  ledger.breach('requests are answered as the chart says', `${what}: ${wordsOf(answer)}`)
}

function wordsOf({ status, body }: Answer): string {
  return `${status} ${body?.code ?? body?.id}: ${body?.detail ?? body?.status}`
}
