// One run: repeatedly kills a daemon under load, lets everything settle, then checks it.
// Choices are seeded, timing is not: the same seed finds the same kind of violation.
import { cpSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { startRegistry, type TestRegistry } from '../support/docker/registry.ts'
import type { App } from './app.ts'
import { createArchiveApp } from './archive-app.ts'
import { createClient } from './client.ts'
import { type Load, repeatRequest } from './deploy-actions.ts'
import { describeDocker, readDocker, untilAtRest } from './docker-state.ts'
import { type Followers, openFollowers } from './follower.ts'
import { createGitApp } from './git-app.ts'
import { checkHistories } from './histories.ts'
import { createImageApp } from './image-app.ts'
import { type Kill, killOnce } from './killer.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { cancelDeploys, deleteService, type User, useServices } from './load.ts'
import { processesOf } from './processes.ts'
import { checkPromises } from './promises.ts'
import { type Chance, createChance } from './random.ts'
import { killLine, type Outcome } from './report.ts'
import { checkServing } from './serving.ts'
import { type Settled, settle } from './settled.ts'
import { checkStored } from './stored.ts'
import { openVictim, type Victim } from './victim.ts'

export interface RunOptions {
  kills: number
  seed: number
  /** Saves the files even without violations. */
  keep: boolean
  log: (line: string) => void
}

interface Run extends RunOptions {
  victim: Victim
  registry: TestRegistry
  ledger: Ledger
  load: Load
  followers: Followers
  chance: Chance
  /** Set after the last kill, so that the users stop. */
  isOver: boolean
}

const keepImages = 2
const names = ['shop', 'blog', 'mail', 'wiki']
const kinds = ['git', 'image', 'archive', 'git'] as const

export async function runCrash(options: RunOptions): Promise<Outcome> {
  const beganAt = Date.now()
  const ledger = createLedger()
  const onDeath = (reason: string) => ledger.addViolation('the daemon does not exit on its own', reason)
  const args = ['--min-free-disk=16', `--keep-images=${keepImages}`]
  const victim = await openVictim({ args, onDeath })
  const cleanups: (() => unknown)[] = []
  const registry = await startRegistry({ after: (cleanup) => void cleanups.unshift(cleanup) })
  const run = openRun(options, victim, registry, ledger)
  let keepFiles = true
  const leave = () => void victim.remove({ keepFiles: false }).finally(() => process.exit(130))
  process.once('SIGINT', leave).once('SIGTERM', leave)
  try {
    const outcome = await killAndCheck(run)
    keepFiles = options.keep || ledger.violations.length > 0
    return { ...outcome, durationMs: Date.now() - beganAt, savedFiles: keepFiles ? victim.directory : null }
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave)
    await victim.remove({ keepFiles })
    for (const cleanup of cleanups) await cleanup()
  }
}

function openRun(options: RunOptions, victim: Victim, registry: TestRegistry, ledger: Ledger): Run {
  const followers = openFollowers(victim, ledger)
  const load: Load = {
    client: createClient(victim, ledger),
    ledger,
    isOver: () => run.isOver,
    onDeploy: ({ id }) => followers.follow(id),
  }
  const chance = createChance(options.seed)
  const run: Run = { ...options, victim, registry, ledger, followers, load, chance, isOver: false }
  return run
}

async function killAndCheck(run: Run): Promise<Omit<Outcome, 'durationMs' | 'savedFiles'>> {
  const { victim, ledger, seed, followers } = run
  const kills = await loadAndKill(run)
  await victim.whenHealthy()
  for (const request of ledger.requests) await repeatRequest(run.load, request)
  const settled = await settle(await victim.whenUp(), ledger)
  await checkAll(run, settled)
  // A copy before the cleanup, which deletes everything.
  if (ledger.violations.length > 0) cpSync(victim.dataDir, `${victim.dataDir}-found`, { recursive: true })
  followers.close()
  const leftovers = await removeAll(run)
  readDaemonLog(victim, ledger)
  const restarts = victim.lives.slice(1).filter(({ healthyAt }) => healthyAt !== null)
  return {
    seed,
    kills,
    outcomes: countOutcomes(settled),
    services: ledger.services.length,
    figures: ledger.figures,
    longestRestartMs: Math.max(0, ...restarts.map(({ startedAt, healthyAt }) => healthyAt! - startedAt)),
    orphans: victim.log.filter((line) => line.includes('removing an orphaned instance')).length,
    leftovers,
    violations: ledger.violations,
  }
}

function countOutcomes({ deploys }: Settled): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { record } of deploys) {
    const status = record?.status ?? 'deleted with its service'
    counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

/** Ends with a running daemon and stopped users. */
async function loadAndKill(run: Run): Promise<Kill[]> {
  const { victim, ledger, load, chance } = run
  victim.start()
  const users = await createUsers(run)
  const using = Promise.all([
    ...users.map((user) => useServices(load, user, chance.fork())),
    cancelDeploys(load, chance.fork()),
  ]).catch((error: Error) => ledger.addViolation('every request is answered', String(error.stack)))
  const killing = chance.fork()
  const kills: Kill[] = []
  while (kills.length < run.kills) {
    void victim.whenHealthy().catch(() => undefined)
    const kill = await killOnce(victim, load.client, killing, kills.length + 1)
    kills.push(kill)
    run.log(killLine(kill, run.kills))
    await sleep(killing.isTrue(0.5) ? 0 : killing.between(0, 400))
    victim.start()
  }
  run.isOver = true
  await using
  return kills
}

/** One user per kind of source, and a random number of further git users. */
async function createUsers(run: Run): Promise<User[]> {
  const users = names.slice(0, run.chance.whole(3, 4)).map(async (name, index) => ({
    app: await createApp(run, kinds[index]!, name),
    name,
    // One of them has a disk: its instances stop before the next ones start.
    hasDisk: index === 1,
    isLasting: index === 0,
  }))
  return Promise.all(users)
}

async function createApp({ chance, victim, registry }: Run, kind: App['kind'], name: string): Promise<App> {
  const fork = chance.fork()
  if (kind === 'image') return createImageApp(registry, name, victim.prefix, fork)
  if (kind === 'archive') return createArchiveApp(name, victim.prefix, fork)
  return createGitApp(victim.directory, name, victim.prefix, fork)
}

/**
 * Checks the running daemon, its promises, its files after it has stopped, and that instances run without it.
 */
async function checkAll({ victim, ledger, followers }: Run, settled: Settled): Promise<void> {
  const api = await victim.whenUp()
  await untilAtRest(victim.prefix)
  checkHistories(ledger, settled)
  await checkPromises(api, ledger, settled)
  const docker = await checkServing(api, ledger, settled, { prefix: victim.prefix, keepImages })
  const code = await victim.stop()
  if (code !== 0) ledger.addViolation('the daemon stops on SIGTERM', `it exited with code ${code}`)
  const after = describeDocker(await readDocker(victim.prefix))
  if (after.join() !== describeDocker(docker).join())
    ledger.addViolation('instances run without the daemon', '', after)
  for (const line of processesOf(victim.directory)) ledger.addViolation('no process is left', line)
  const restartsAt = victim.lives.slice(1).map(({ startedAt }) => startedAt)
  await checkStored(victim.dataDir, { ledger, settled, docker, seen: followers.all, restartsAt })
}

/** Deletes everything through the API; returns what then remains in Docker and on disk. */
async function removeAll({ victim, load, ledger, chance }: Run): Promise<string[]> {
  victim.start()
  const kept = ledger.services.filter(({ isDeleted }) => !isDeleted)
  for (const service of kept) await deleteService(load, service, chance)
  await victim.stop()
  const { containers, images, dangling, volumes } = await readDocker(victim.prefix)
  const gone = { deploys: [], services: [] }
  const docker = { containers, images, dangling, volumes, networks: [] }
  await checkStored(victim.dataDir, { ledger, settled: gone, docker, seen: [], restartsAt: [] })
  const leftovers = [...describeDocker(docker), ...volumes]
  for (const line of leftovers) ledger.addViolation('nothing is left after deleting everything', line)
  return leftovers
}

/** Any error in the daemon's log is a violation, even if everything ended well. */
function readDaemonLog({ log }: Victim, ledger: Ledger): void {
  const errors = log.filter((line) => /^\{"level":"?(50|60|error|fatal)/.test(line))
  for (const line of errors) ledger.addViolation('the daemon logs no error', line)
}
