// One run of a part: users act while the daemon is killed and Docker restarts, then everything is checked.
// Choices are seeded, timing is not: the same seed finds the same kind of violation.
import { copyFileSync, cpSync, existsSync, lstatSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NamespaceEngine } from '../support/docker/namespace-engine.ts'
import type { Scope } from '../support/system/directory.ts'
import { type Client, createClient } from './client.ts'
import { describeDocker, readDocker } from './docker-state.ts'
import { type Followers, openFollowers } from './follower.ts'
import { createIncidents, type Incidents } from './incidents.ts'
import { type Kill, killOnce } from './kills.ts'
import { createLedger, type Ledger } from './ledger.ts'
import type { Part, PartKind, Prepared } from './part.ts'
import { processesOf } from './processes.ts'
import { type Chance, createChance } from './random.ts'
import { killLine, type Outcome, restartLine } from './report.ts'
import { checkStored } from './stored.ts'
import { openVictim, type Victim } from './victim.ts'

export interface DrillOptions {
  kills: number
  engineRestarts: number
  seed: number
  /** Saves the files even without violations. */
  keep: boolean
}

export interface Surroundings {
  /** The engine that is restarted; null if Docker is shared. */
  engine: NamespaceEngine | null
  prepared: Prepared
  /** Cleans up after the victim is removed. */
  scope: Scope
  log: (line: string) => void
}

export interface Drill extends DrillOptions, Surroundings {
  victim: Victim
  ledger: Ledger
  incidents: Incidents
  client: Client
  followers: Followers
  chance: Chance
  /** Whether an id or the name of an object in Docker is of another part of the same daemon. */
  isForeign: (text: string) => boolean
  /** Set after the last kill, so that the users stop. */
  isOver: boolean
}

export interface EngineRestart {
  how: 'stopped' | 'killed'
  /** How long its socket was unavailable. */
  awayMs: number
  /** From its return until all was well. */
  recoveryMs: number
}

const longestAwayMs = 8000
const longestDownMs = 3000

export async function runDrill(
  kind: PartKind,
  options: DrillOptions,
  around: Surroundings,
): Promise<Outcome> {
  const beganAt = Date.now()
  const ledger = createLedger()
  const onDeath = (reason: string) => ledger.addViolation('the daemon does not exit on its own', reason)
  const victim = await openVictim(kind.daemonArgs(around.prepared), onDeath)
  const leave = () => void victim.remove().finally(() => process.exit(130))
  process.once('SIGINT', leave).once('SIGTERM', leave)
  const drill = openDrill(options, around, victim, ledger)
  try {
    const outcome = await killAndCheck(drill, kind)
    return { ...outcome, durationMs: Date.now() - beganAt }
  } catch (error) {
    around.log(`files: ${saveFiles(drill)}`)
    throw error
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave)
    drill.followers.close()
    await victim.remove()
  }
}

export function openDrill(
  options: DrillOptions,
  around: Surroundings,
  victim: Victim,
  ledger: Ledger,
): Drill {
  const incidents = createIncidents()
  const client = createClient(victim, ledger, incidents)
  const followers = openFollowers(victim, ledger)
  const chance = createChance(options.seed)
  const isForeign = () => false
  return {
    ...options,
    ...around,
    victim,
    ledger,
    incidents,
    client,
    followers,
    chance,
    isForeign,
    isOver: false,
  }
}

async function killAndCheck(drill: Drill, kind: PartKind): Promise<Omit<Outcome, 'durationMs'>> {
  const { victim, ledger } = drill
  const part = await kind.open(drill)
  const { kills, engineRestarts } = await useAndKill(drill, part)
  await checkAll(drill, part)
  // Before the cleanup, which deletes everything.
  const savedFiles = drill.keep || ledger.violations.length > 0 ? saveFiles(drill) : null
  const leftovers = await removeAll(drill, part)
  const restarts = victim.lives.slice(1).filter(({ healthyAt }) => healthyAt !== null)
  return {
    seed: drill.seed,
    kills,
    engineRestarts,
    longestRestartMs: Math.max(0, ...restarts.map(({ startedAt, healthyAt }) => healthyAt! - startedAt)),
    partFigures: part.figures(),
    proofs: part.proofs(),
    figures: ledger.figures,
    leftovers,
    violations: ledger.violations,
    savedFiles,
  }
}

/** Says whether something had this long since the last kill: kills come faster than a restore ends. */
export function createLimit(drill: Drill, limitMs: number): () => boolean {
  const beganAt = Date.now()
  let since = beganAt
  return () => {
    if (!drill.isOver) since = Date.now()
    return Date.now() - since > limitMs || Date.now() - beganAt > 10 * limitMs
  }
}

/** Checks every promise when all users have stopped. Ends with a stopped daemon. */
export async function checkAll(drill: Drill, part: Part): Promise<void> {
  const { client, ledger, victim } = drill
  for (const order of ledger.orders) await client.repeat(order)
  await part.check(await victim.whenUp())
  await stopInOrder(drill)
  await part.checkWithoutDaemon?.()
  await checkStored(drill, part, false)
}

/** Ends with a running daemon and engine, and stopped users. */
async function useAndKill(drill: Drill, part: Part) {
  const using = Promise.all(part.use()).catch((error: Error) =>
    drill.ledger.addViolation('every request is answered', String(error.stack)),
  )
  const kills: Kill[] = []
  const [engineRestarts] = await Promise.all([restartEngine(drill, part, kills), killAll(drill, part, kills)])
  drill.isOver = true
  await using
  await drill.victim.whenHealthy()
  await part.rest?.()
  return { kills, engineRestarts }
}

async function killAll(drill: Drill, part: Part, done: Kill[]): Promise<void> {
  const { victim, kills, log } = drill
  const chance = drill.chance.fork()
  while (done.length < kills) {
    void victim.whenHealthy().catch(() => undefined)
    const kill = await killOnce(drill, part.kills, chance, done.length + 1)
    done.push(kill)
    log(killLine(kill, kills))
    // Long enough for work to end and schedules to come due while the daemon is down.
    await sleep(chance.isTrue(0.5) ? 0 : chance.between(0, longestDownMs))
    victim.start()
  }
}

/** Spread over the kills; stops and kills of Docker alternate, starting with a random one. */
async function restartEngine(drill: Drill, part: Part, done: Kill[]): Promise<EngineRestart[]> {
  const { engine, incidents, kills, engineRestarts: wanted, log } = drill
  const chance = drill.chance.fork()
  const first = chance.whole(0, 1)
  const restarts: EngineRestart[] = []
  while (engine && part.outage && restarts.length < wanted) {
    const afterKills = Math.floor((kills * (restarts.length + 1)) / (wanted + 1))
    while (done.length < afterKills) await sleep(50)
    await sleep(chance.between(0, 3000))
    const how = (restarts.length + first) % 2 === 0 ? 'stopped' : 'killed'
    const [end, goneAt] = [incidents.begin(), Date.now()]
    await (how === 'stopped' ? engine.stop() : engine.kill())
    const recovered = await part.outage(chance)
    await sleep(chance.between(0, longestAwayMs))
    await engine.start()
    const backAt = Date.now()
    await recovered(end)
    restarts.push({ how, awayMs: backAt - goneAt, recoveryMs: Date.now() - backAt })
    log(restartLine(restarts.at(-1)!))
  }
  return restarts
}

async function stopInOrder({ victim, ledger, isForeign }: Drill): Promise<void> {
  const code = await victim.stop()
  if (code !== 0) ledger.addViolation('the daemon stops on SIGTERM', `it exited with code ${code}`)
  for (const line of processesOf(victim.dataDir).filter((line) => !isForeign(line)))
    ledger.addViolation('no process is left', line)
}

/** Deletes everything through the API; returns what then remains in Docker. Ends with a stopped daemon. */
export async function removeAll(drill: Drill, part: Part): Promise<string[]> {
  const { victim, ledger } = drill
  victim.start()
  await part.removeAll()
  await victim.stop()
  await checkStored(drill, part, true)
  const docker = await readDocker(victim.prefix, drill.isForeign)
  checkDaemonLog(drill, part)
  const leftovers = [...describeDocker(docker), ...docker.volumes]
  for (const name of leftovers) ledger.addViolation('nothing is left after deleting everything', name)
  return leftovers
}

/** Any error in the daemon's log is a violation, even if everything ended well. */
function checkDaemonLog({ victim: { log }, ledger }: Drill, { expectedErrors = [] }: Part): void {
  const errors = log.filter((line) => /^\{"level":"?(50|60|error|fatal)/.test(line))
  const unexpected = errors.filter((line) => !expectedErrors.some((message) => line.includes(message)))
  for (const line of unexpected) ledger.addViolation('the daemon logs no error', line)
}

/** Copies the data directory and the logs, which stay there; returns where. */
export function saveFiles({ engine, victim }: Drill): string {
  const directory = `${victim.dataDir}-found`
  const filter = (path: string) => !lstatSync(path).isSocket()
  cpSync(victim.dataDir, directory, { recursive: true, filter })
  writeFileSync(join(directory, 'daemon.log'), victim.log.join('\n'))
  const engineLog = engine && join(engine.path, '../dockerd.log')
  if (engineLog && existsSync(engineLog)) copyFileSync(engineLog, join(directory, 'dockerd.log'))
  return directory
}
