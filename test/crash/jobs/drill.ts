// One run: job runs and schedules while the daemon is killed and Docker restarts, then everything is checked.
// Choices are seeded, timing is not.
import { setTimeout as sleep } from 'node:timers/promises'
import { findLeftovers } from '../../support/daemon/leftovers.ts'
import type { NamespaceEngine } from '../../support/docker/namespace-engine.ts'
import { processesOf } from '../processes.ts'
import type { Chance } from '../random.ts'
import { killLine } from '../report.ts'
import type { Victim } from '../victim.ts'
import { createCron, createTools, removeService, repeatRun } from './actions.ts'
import { type Book, cronServices, type JobService } from './book.ts'
import { type EngineRestart, restartEngines } from './engine-restarts.ts'
import { type Kill, killOnce } from './kills.ts'
import type { Mark } from './marks.ts'
import { checkPromises } from './promises.ts'
import { figuresOf, type JobOutcome } from './report.ts'
import { endSchedules, type SettledRun, settleRuns } from './settled.ts'
import { checkStored } from './stored.ts'
import { startOwnRuns, startRuns, watchSchedules } from './users.ts'

export interface Drill {
  kills: number
  engineRestarts: number
  repoUrl: string
  victim: Victim
  /** Null if Docker is shared and never restarted. */
  engine: NamespaceEngine | null
  book: Book
  marks: Mark[]
  chance: Chance
  /** Set after the last kill, so that the users stop. */
  isOver: boolean
  log: (line: string) => void
}

type DrillOutcome = Omit<JobOutcome, 'seed' | 'durationMs' | 'savedFiles'>

export async function runDrill(drill: Drill): Promise<DrillOutcome> {
  const { victim, book, marks } = drill
  const { ledger } = book
  victim.start()
  const tools = await makeServices(drill)
  const { kills, engineRestarts } = await runAndKill(drill, tools)
  const api = await victim.whenUp()
  for (const entry of book.entries.values()) await repeatRun(book, entry)
  const schedules = await endSchedules(api, book)
  const runs = await settleRuns(api, book)
  book.followers.close()
  await checkPromises(api, book, { runs, schedules, marks })
  await checkContainers(drill)
  await stopInOrder(drill)
  const runIds = runs.filter(({ record }) => record !== null).map(({ id }) => id)
  await checkStored(victim.dataDir, { ledger, serviceIds: book.services.map(({ id }) => id), runIds })
  const leftovers = await removeAll(drill)
  readDaemonLog(drill)
  const restarts = victim.lives.slice(1).filter(({ healthyAt }) => healthyAt !== null)
  return {
    ...figuresOf({ kills, runs, book, isStarted: isStarted(marks) }),
    engineRestarts,
    longestRestartMs: Math.max(0, ...restarts.map(({ startedAt, healthyAt }) => healthyAt! - startedAt)),
    leftovers,
    violations: ledger.violations,
  }
}

function isStarted(marks: Mark[]): (run: SettledRun) => boolean {
  const ids = new Set(marks.map(({ id }) => id))
  return ({ id }) => ids.has(id)
}

async function makeServices({ book, repoUrl, chance }: Drill): Promise<JobService> {
  const tools = await createTools(book, repoUrl)
  for (const overlap of ['skip', 'queue', 'replace'] as const)
    await createCron(book, repoUrl, overlap, chance.whole(1, 1e9))
  return tools
}

/** Ends with a running daemon and engine, and stopped users. */
async function runAndKill(drill: Drill, tools: JobService) {
  const { book, chance, engine } = drill
  const using = Promise.all([
    startRuns(book, tools, chance.fork()),
    startRuns(book, tools, chance.fork()),
    ...cronServices(book).map((service) => startOwnRuns(book, service, chance.fork())),
    watchSchedules(book),
  ]).catch((error: Error) => book.ledger.addViolation('every request is answered', String(error.stack)))
  const done: Kill[] = []
  const restarting: Promise<EngineRestart[]> = engine
    ? restartEngines({
        ...{ engine, book, tools, chance: chance.fork(), count: drill.engineRestarts, kills: drill.kills },
        ...{ killsDone: () => done.length, log: drill.log },
      })
    : Promise.resolve([])
  const [engineRestarts] = await Promise.all([restarting, killAll(drill, done)])
  drill.isOver = true
  await using
  await drill.victim.whenHealthy()
  return { kills: done, engineRestarts }
}

async function killAll({ victim, book, kills, chance: all, log }: Drill, done: Kill[]): Promise<void> {
  const chance = all.fork()
  while (done.length < kills) {
    void victim.whenHealthy().catch(() => undefined)
    const kill = await killOnce(victim, book, chance, done.length + 1)
    done.push(kill)
    log(`${killLine(kill, kills)}${kill.wasEngineAway ? ', Docker restarts' : ''}`)
    // Long enough for runs to end and schedules to come due while the daemon is down.
    await sleep(chance.isTrue(0.5) ? 0 : chance.between(0, 3000))
    victim.start()
  }
}

/** Finished runs have no container, and a cron service has no instance. */
async function checkContainers({ victim, book: { ledger } }: Drill): Promise<void> {
  const { containers } = await findLeftovers(victim.prefix)
  const isInstance = (name: string) => name.startsWith(`${victim.prefix}-tools-`) && name.endsWith('-0')
  for (const name of containers.filter((container) => !isInstance(container)))
    ledger.addViolation('containers of finished runs are removed', name)
}

async function stopInOrder({ victim, book: { ledger } }: Drill): Promise<void> {
  const code = await victim.stop()
  if (code !== 0) ledger.addViolation('the daemon stops on SIGTERM', `it exited with code ${code}`)
  for (const line of processesOf(victim.dataDir)) ledger.addViolation('no process is left', line)
}

/** Deletes everything through the API; returns what then remains in Docker and on disk. */
async function removeAll({ victim, book }: Drill): Promise<string[]> {
  victim.start()
  for (const service of book.services) await removeService(book, service)
  await victim.stop()
  await checkStored(victim.dataDir, { ledger: book.ledger, serviceIds: [], runIds: [] })
  const { containers, volumes, images } = await findLeftovers(victim.prefix)
  const leftovers = [...containers, ...volumes, ...images]
  for (const name of leftovers) book.ledger.addViolation('nothing is left after deleting everything', name)
  return leftovers
}

/** Any error in the daemon's log is a violation, even if everything ended well. */
function readDaemonLog({ victim: { log }, book: { ledger } }: Drill): void {
  const errors = log.filter((line) => /^\{"level":"?(50|60|error|fatal)/.test(line))
  for (const line of errors) ledger.addViolation('the daemon logs no error', line)
}
