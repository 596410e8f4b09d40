// The simulated users: some start and cancel runs, some start a cron service's own command, one
// polls the schedules.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Chance } from '../random.ts'
import { cancelRun, repeatRun, runOf, startRun } from './actions.ts'
import { type Book, cronServices, type JobEntry, type JobService, openRuns } from './book.ts'
import { skippedBy } from './instants.ts'
import { type TaskKind, taskOf } from './tasks.ts'

const openAtMost = 14
const openOwnAtMost = 3
const pollIntervalMs = 400
const kinds: Record<TaskKind, number> = { quick: 35, slow: 20, failing: 20, chatty: 15, stubborn: 10 }

export async function startRuns(book: Book, tools: JobService, chance: Chance): Promise<void> {
  const canceling: Promise<void>[] = []
  while (!book.isOver()) {
    await sleep(chance.between(50, 1200))
    if (openRuns(book).size >= openAtMost) continue
    // Sometimes concurrent with a cron service's own runs.
    const service = chance.isTrue(0.85) ? tools : chance.pick(cronServices(book))
    const entry = await startRun(book, service, runOf(taskOf(chance.choose(kinds), chance), book))
    if (chance.isTrue(0.25)) canceling.push(cancelLater(book, entry, chance))
    if (chance.isTrue(0.1)) await repeatRun(book, chance.pick([...book.entries.values()]))
  }
  await Promise.all(canceling)
}

/** Starts the service's own command manually. */
export async function startOwnRuns(book: Book, service: JobService, chance: Chance): Promise<void> {
  const isOwnOpen = (id: string) => book.entries.get(id)?.service === service
  while (!book.isOver()) {
    await sleep(chance.between(1000, 9000))
    if ([...openRuns(book)].filter(isOwnOpen).length >= openOwnAtMost) continue
    const entry = await startRun(book, service, { task: service.ownTask!, command: null })
    if (chance.isTrue(0.15)) await cancelLater(book, entry, chance)
  }
}

async function cancelLater(book: Book, entry: JobEntry, chance: Chance): Promise<void> {
  await sleep(chance.isTrue(0.4) ? chance.between(0, 300) : chance.between(0, 6000))
  await cancelRun(book, entry)
}

/** Polls, because the API only returns the last skip. */
export async function watchSchedules(book: Book): Promise<void> {
  while (!book.isOver()) {
    for (const service of cronServices(book)) await lookAtSchedule(book, service)
    await sleep(pollIntervalMs)
  }
}

/** Follows scheduled runs. */
export async function lookAtSchedule(book: Book, service: JobService): Promise<void> {
  const { client, followers } = book
  const schedule = await client.request({ method: 'GET', path: `/services/${service.id}/schedule` })
  const skip = schedule.body?.last_skip
  for (const instant of skip ? skippedBy(skip) : []) service.skips.add(instant)
  const jobs = await client.request({ method: 'GET', path: `/services/${service.id}/jobs?limit=20` })
  const known = new Set(followers.all.map(({ id }) => id))
  for (const { id, trigger } of jobs.body) if (trigger === 'schedule' && !known.has(id)) followers.follow(id)
}
