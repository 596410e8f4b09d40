// The simulated users: some start and cancel runs, some start a cron service's own command, one polls the
// schedules. Expectations are recorded only for acknowledged requests.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Body } from '../../support/daemon/api.ts'
import type { Drill } from '../drill.ts'
import { type Chance, createChance } from '../random.ts'
import { skippedBy } from './instants.ts'
import type { Mark } from './marks.ts'
import { scriptOf, type Task, type TaskKind, taskOf } from './tasks.ts'

export interface JobService {
  id: string
  name: string
  /** Null for the service without a schedule. */
  cron: { overlap: keyof typeof ownTasks; task: Task } | null
  deployId: string
  /** When it went live, in ms since 1970; nothing was due earlier. */
  liveAt: number
  /** Skipped times that the API reported, in ms since 1970. */
  skips: Set<number>
}

/** A requested run that was acknowledged. */
export interface JobEntry {
  id: string
  service: JobService
  task: Task
  /** Whether a cancel was sent; `accepted` once it was acknowledged. */
  cancel: 'none' | 'asked' | 'accepted' | 'refused'
}

export interface Book {
  drill: Drill
  services: JobService[]
  entries: Map<string, JobEntry>
  /** Of all runs, and where they are sent. */
  marks: Mark[]
  markPort: number
  repoUrl: string
}

const timeoutMs = 150_000
const openAtMost = 14
const openOwnAtMost = 3
const pollIntervalMs = 400
const kinds: Record<TaskKind, number> = { quick: 35, slow: 20, failing: 20, chatty: 15, stubborn: 10 }
/** The commands of the cron services, by how runs may overlap. */
const ownTasks = { skip: 'slow', queue: 'failing', replace: 'slow' } as const

export const cronServices = ({ services }: Book) => services.filter(({ cron }) => cron !== null)

/** Followed runs whose log has not ended. */
export function openRuns({ drill }: Book): Set<string> {
  const runs = drill.followers.all.filter(({ id }) => id.startsWith('job-'))
  const open = runs.filter(({ isEnded, isGone }) => !isEnded && !isGone)
  return new Set(open.map(({ id }) => id))
}

/** A service for requested runs, which share its disk; its instance is idle. */
export function createTools(book: Book): Promise<JobService> {
  const body = { name: 'tools', type: 'background_worker', drain_seconds: 0, disk_mount_path: '/data' }
  return createService(book, { ...body, start_command: 'exec sleep 100000' }, null)
}

export function createCron(book: Book, overlap: keyof typeof ownTasks, seed: number): Promise<JobService> {
  const task = taskOf(ownTasks[overlap], createChance(seed))
  const body = { name: `cron-${overlap}`, type: 'cron_job', schedule: '* * * * *', overlap }
  return createService(book, { ...body, start_command: scriptOf(task, book.markPort) }, { overlap, task })
}

async function createService(
  book: Book,
  body: { name: string; start_command: string },
  cron: JobService['cron'],
): Promise<JobService> {
  const { client } = book.drill
  const created = await client.ask({
    method: 'POST',
    path: '/services',
    body: { ...body, repo_url: book.repoUrl },
  })
  const deployId = created!.latest_deploy.id
  for (const deadline = Date.now() + timeoutMs; ; await sleep(50)) {
    const { status, error } = await client.get(`/deploys/${deployId}`)
    if (status === 'live') break
    const hasFailed = !['queued', 'running'].includes(status) || Date.now() > deadline
    if (hasFailed) throw new Error(`the first deploy of ${body.name} is ${status}: ${error}`)
  }
  const history: Body[] = await client.get(`/deploys/${deployId}/history`)
  const liveAt = Date.parse(history.find(({ status }) => status === 'live').at)
  const service: JobService = { id: created!.id, name: body.name, cron, deployId, liveAt, skips: new Set() }
  book.services.push(service)
  return service
}

export async function startRuns(book: Book, tools: JobService, chance: Chance): Promise<void> {
  const { drill } = book
  const canceling: Promise<void>[] = []
  while (!drill.isOver) {
    await sleep(chance.between(50, 1200))
    if (openRuns(book).size >= openAtMost) continue
    // Sometimes concurrent with a cron service's own runs.
    const service = chance.isTrue(0.85) ? tools : chance.pick(cronServices(book))
    const entry = await startRun(book, service, taskOf(chance.choose(kinds), chance))
    if (chance.isTrue(0.25)) canceling.push(cancelLater(drill, entry, chance))
    if (chance.isTrue(0.1)) await drill.client.repeat(chance.pick(drill.ledger.orders))
  }
  await Promise.all(canceling)
}

/** Starts the service's own command manually. */
export async function startOwnRuns(book: Book, service: JobService, chance: Chance): Promise<void> {
  const isOwnOpen = (id: string) => book.entries.get(id)?.service === service
  while (!book.drill.isOver) {
    await sleep(chance.between(1000, 9000))
    if ([...openRuns(book)].filter(isOwnOpen).length >= openOwnAtMost) continue
    const entry = await startRun(book, service, null)
    if (chance.isTrue(0.15)) await cancelLater(book.drill, entry, chance)
  }
}

/** Null is the service's own command. Only the drill knows the task of a run. */
export async function startRun(book: Book, service: JobService, given: Task | null): Promise<JobEntry> {
  const body = given === null ? {} : { command: scriptOf(given, book.markPort) }
  const answer = await book.drill.client.order(`/services/${service.id}/jobs`, body)
  if (!answer) throw new Error(`no run of ${service.name}`)
  const entry: JobEntry = { id: answer.id, service, task: given ?? service.cron!.task, cancel: 'none' }
  book.entries.set(entry.id, entry)
  book.drill.followers.follow(entry.id)
  return entry
}

async function cancelLater({ client, ledger }: Drill, entry: JobEntry, chance: Chance): Promise<void> {
  await sleep(chance.isTrue(0.4) ? chance.between(0, 300) : chance.between(0, 6000))
  entry.cancel = 'asked'
  const isLate = ({ status, body }: Answer) => status === 409 && body.code === 'not_cancelable'
  const answer = await client.ask({ method: 'POST', path: `/jobs/${entry.id}/cancel` }, isLate)
  entry.cancel = answer ? 'accepted' : 'refused'
  if (answer && answer.status !== 'canceled')
    ledger.addViolation('a canceled run shows it at once', `${entry.id} is ${answer.status}`)
}

/** Polls, because the API only returns the last skip. */
export async function watchSchedules(book: Book): Promise<void> {
  while (!book.drill.isOver) {
    for (const service of cronServices(book)) await lookAtSchedule(book, service)
    await sleep(pollIntervalMs)
  }
}

/** Also follows scheduled runs. */
export async function lookAtSchedule({ drill }: Book, { id, skips }: JobService): Promise<void> {
  const { client, followers } = drill
  const { last_skip } = await client.get(`/services/${id}/schedule`)
  for (const instant of last_skip ? skippedBy(last_skip) : []) skips.add(instant)
  const jobs: Body[] = await client.get(`/services/${id}/jobs?limit=20`)
  const known = followers.all.map((follower) => follower.id)
  for (const job of jobs) if (job.trigger === 'schedule' && !known.includes(job.id)) followers.follow(job.id)
}
