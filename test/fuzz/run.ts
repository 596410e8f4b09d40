// A run: sequences of requests, then checks of what is left. The same seed sends the same requests, but how
// far each deploy gets depends on the machine.
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import type { Scope } from '../support/system/directory.ts'
import { findLeaks, findOrphans, removeServices, settle } from './remains.ts'
import { describeStep, playSequence } from './sequence.ts'
import { type Step, sequences } from './steps.ts'
import { createTally, type Tally } from './tally.ts'
import { openWorld, type World } from './world.ts'

export interface FuzzOptions {
  requests: number
  seed: number
  log: (line: string) => void
}

export interface FuzzOutcome {
  /** Faults with everything that is needed to reproduce them; empty if there are none. */
  wrongs: string[]
  tally: Tally
  /** The daemon's usage after each tenth, and after deleting everything. */
  usage: Usage[]
  seconds: number
}

export interface Usage {
  requests: number
  /** Private memory in MiB, without mapped files such as the store's. */
  memoryMib: number
  handles: number
}

const sequencesPerBatch = 10
/** The limit for shrinking a failure; then it is reported as it is. */
const batchMs = 30_000

export async function runFuzz(scope: Scope, { requests, seed, log }: FuzzOptions): Promise<FuzzOutcome> {
  const world = await openWorld(scope)
  const startedAt = performance.now()
  const tally = createTally()
  const usage: Usage[] = []
  const wrongs: string[] = []
  const tenth = requests / 10
  for (let batch = 0; tally.requests < requests && wrongs.length === 0; batch++) {
    const wrong = await playBatch(world, tally, seed + batch)
    if (wrong) wrongs.push(wrong)
    if (tally.requests < tenth * (usage.length + 1)) continue
    usage.push(measure(world, tally.requests))
    log(describeUsage(usage.at(-1)!))
  }
  // After a violation the daemon may be unusable, so it is not checked further.
  if (wrongs.length === 0) wrongs.push(...(await findRemains(world, usage, tally)))
  return { wrongs, tally, usage, seconds: (performance.now() - startedAt) / 1000 }
}

/** Each batch has its own seed, so that a failure can be reproduced without the earlier batches. */
async function playBatch(world: World, tally: Tally, seed: number): Promise<string | null> {
  const property = fc.asyncProperty(sequences, (steps: Step[]) => playSequence(steps, world, tally))
  const { failed, counterexample, errorInstance } = await fc.check(property, {
    seed,
    numRuns: sequencesPerBatch,
    interruptAfterTimeLimit: batchMs,
  })
  if (!failed) return null
  const steps = counterexample?.[0].map(describeStep).join('\n  ')
  return `seed ${seed}: ${String((errorInstance as Error).stack)}\nafter these requests:\n  ${steps}`
}

async function findRemains(world: World, usage: Usage[], tally: Tally): Promise<string[]> {
  const { daemon } = world
  const labelled = (what: string) => (text: string) => `${what}: ${text}`
  await settle(world)
  const leaks = (await findLeaks(world)).map(labelled('a secret is shown'))
  const left = (await removeServices(world)).map(labelled('left in Docker'))
  usage.push(measure(world, tally.requests))
  const faults = daemon.log.filter((line) => /"level":"(error|fatal)"/.test(line)).map(labelled('logged'))
  const code = await daemon.stop()
  const ended = code === 0 ? [] : [`the daemon ended with ${code}`]
  const orphans = (await findOrphans(daemon.dataDir)).map(labelled('left in the data directory'))
  const files = world.secrets.filesBelow(daemon.dataDir).filter((found) => !found.endsWith('/api_token'))
  return [...leaks, ...left, ...faults, ...ended, ...orphans, ...files.map(labelled('a secret is on disk'))]
}

function measure({ daemon: { pid } }: World, requests: number): Usage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const memoryMib = Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1]) / 1024
  return { requests, memoryMib, handles: readdirSync(`/proc/${pid}/fd`).length }
}

function describeUsage({ requests, memoryMib, handles }: Usage): string {
  return `${requests} requests: ${Math.round(memoryMib)} MiB, ${handles} handles`
}
