// One run of chaos: rounds on one daemon and one data directory. In each round users act while the daemon,
// Docker and the edge are stopped, hung and killed; then everything is checked, deleted, and checked again.
// The first violation ends the run.
import { setTimeout as sleep } from 'node:timers/promises'
import { checkAll, type Drill, openDrill, removeAll, type Surroundings, saveFiles } from '../crash/drill.ts'
import { readUnderWay } from '../crash/kills.ts'
import { createLedger, type Ledger } from '../crash/ledger.ts'
import { type Chance, createChance } from '../crash/random.ts'
import { openVictim, type Victim } from '../crash/victim.ts'
import { everything } from './everything.ts'
import { daemonFaults, type FaultName, otherFaults } from './faults.ts'
import { rarePaths, untilState } from './rare-paths.ts'
import { isOfEdge, type Sites } from './sites.ts'

export interface ChaosOptions {
  minutes: number
  seed: number
}

export interface ChaosOutcome {
  seed: number
  rounds: number
  durationMs: number
  faults: Record<string, number>
  /** How often the daemon was killed in each state. */
  killedIn: Record<string, number>
  requests: Ledger['figures']
  /** The figures of the parts, of the last round. */
  figures: [name: string, value: string | number][]
  violations: Ledger['violations']
  savedFiles: string | null
}

const roundMs = 180_000
const daemonPauseMs = 12_000
const otherPauseMs = 12_000
/** A hang of the daemon ends before its own limit on a response. */
const daemonWeights = { 'daemon is killed': 80, 'daemon hangs': 12, 'daemon stops': 8 } as const
const otherWeights: Record<keyof typeof otherFaults, number> = {
  'Docker stops': 8,
  'Docker is killed': 14,
  'Docker hangs': 14,
  'the worker of HAProxy is killed': 14,
  'HAProxy is killed': 14,
  'HAProxy hangs': 14,
  'the container of the edge is killed': 11,
  'the container of the edge is removed': 11,
}

interface Run {
  victim: Victim
  chance: Chance
  outcome: ChaosOutcome
  around: Surroundings
}

export async function runChaos({ minutes, seed }: ChaosOptions, around: Surroundings): Promise<ChaosOutcome> {
  const beganAt = Date.now()
  let ledger = createLedger()
  const onDeath = (reason: string) => ledger.addViolation('the daemon does not exit on its own', reason)
  const victim = await openVictim(everything.daemonArgs(around.prepared), onDeath)
  const outcome: ChaosOutcome = {
    seed,
    rounds: 0,
    durationMs: 0,
    faults: {},
    killedIn: Object.fromEntries(rarePaths.map((path) => [path, 0])),
    requests: ledger.figures,
    figures: [],
    violations: [],
    savedFiles: null,
  }
  const run: Run = { victim, chance: createChance(seed), outcome, around }
  try {
    while (Date.now() - beganAt < minutes * 60_000 && outcome.violations.length === 0) {
      ledger = createLedger()
      await playRound(run, ledger)
      outcome.rounds++
    }
    return { ...outcome, durationMs: Date.now() - beganAt }
  } finally {
    await victim.remove()
  }
}

/** Begins and ends with a running daemon without services. */
async function playRound(run: Run, ledger: Ledger): Promise<void> {
  const { victim, chance, outcome, around } = run
  const options = { kills: 0, engineRestarts: 0, keep: false, seed: chance.whole(0, 1e9) }
  const cleanups: (() => unknown)[] = []
  const scope = { after: (cleanup: () => unknown) => void cleanups.unshift(cleanup) }
  const drill = { ...openDrill(options, { ...around, scope }, victim, ledger), isForeign: isOfEdge }
  try {
    const part = await everything.open(drill)
    await disturb(run, drill, part)
    outcome.figures = part.figures()
    if (ledger.violations.length === 0) await checkAll(drill, part)
    if (ledger.violations.length === 0) await removeAll(drill, part)
  } catch (error) {
    ledger.addViolation('the run goes on', String((error as Error).stack))
  } finally {
    drill.isOver = true
    drill.followers.close()
    for (const cleanup of cleanups) await cleanup()
  }
  for (const [name, count] of Object.entries(ledger.figures))
    outcome.requests[name as keyof Ledger['figures']] += count
  outcome.violations = ledger.violations
  if (ledger.violations.length > 0) outcome.savedFiles = saveFiles(drill)
  else victim.start()
  const [first] = ledger.violations
  if (first) around.log(`VIOLATED ${first.rule}: ${first.text}`)
  around.log(`round ${outcome.rounds + 1}: ${ledger.figures.acknowledged} requests acknowledged`)
}

/** Ends with stopped users, and a daemon, Docker and an edge that are well. */
async function disturb(run: Run, drill: Drill, part: Sites): Promise<void> {
  const using = Promise.all(part.use()).catch((error: Error) =>
    drill.ledger.addViolation('every request is answered', String(error.stack)),
  )
  const endsAt = Date.now() + roundMs
  const isOver = () => Date.now() > endsAt || drill.ledger.violations.length > 0
  await Promise.all([
    disturbDaemon(run, drill, part, isOver),
    disturbOthers(run, drill, part, isOver),
    lookForParked(drill, isOver),
  ])
  drill.isOver = true
  await using
  if (drill.ledger.violations.length > 0) return
  await drill.victim.whenHealthy()
  await part.rest?.()
}

async function disturbDaemon(run: Run, drill: Drill, part: Sites, isOver: () => boolean): Promise<void> {
  const { victim, chance, outcome } = run
  while (!isOver()) {
    const name = chance.choose<FaultName>(daemonWeights as Record<FaultName, number>)
    if (name === 'daemon is killed') await killDaemon(run, drill)
    else await daemonFaults[name as keyof typeof daemonFaults]({ drill, part, chance })
    count(outcome.faults, name)
    void victim.whenHealthy().catch(() => undefined)
    await sleep(chance.between(0, daemonPauseMs))
  }
}

/** In a state in which it was never killed, or at any time; also right after its start. */
async function killDaemon({ victim, chance, outcome, around }: Run, drill: Drill): Promise<void> {
  const missing = rarePaths.filter((path) => outcome.killedIn[path] === 0)
  if (chance.isTrue(0.7))
    await untilState(drill, missing.length > 0 ? missing : [chance.pick(rarePaths)], chance)
  else await sleep(chance.between(100, 2500))
  await victim.kill()
  const underWay = await readUnderWay(victim.dataDir)
  for (const path of Object.keys(underWay)) count(outcome.killedIn, path)
  around.log(`killed in ${Object.keys(underWay).join(', ')}`)
  await sleep(chance.isTrue(0.6) ? 0 : chance.between(0, 3000))
  victim.start()
}

async function disturbOthers(run: Run, drill: Drill, part: Sites, isOver: () => boolean): Promise<void> {
  const chance = run.chance.fork()
  while (!isOver()) {
    await sleep(chance.between(0, otherPauseMs))
    const name = chance.choose(otherWeights)
    run.around.log(name)
    await otherFaults[name]({ drill, part, chance })
    count(run.outcome.faults, name)
  }
}

async function lookForParked({ client, ledger }: Drill, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await sleep(3000)
    const parked = await client.get('/actors?parked=true')
    for (const actor of parked) ledger.addViolation('no actor is parked', JSON.stringify(actor))
  }
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}
