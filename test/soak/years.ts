// Years of deploys, job runs, certificates and backups on a server without Docker (year-server.ts), with a
// clock that runs ahead. What it keeps must stop growing, and a copy of it must start as fast as before.
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { RetentionLimits } from '../../src/daemon/record-retention.ts'
import { createRecoveryKey } from '../../src/server-backup/keys.ts'
import { programArgs } from '../support/daemon/program.ts'
import { issueTestCertificate } from '../support/edge/test-certificate.ts'
import { run } from '../support/system/command.ts'
import { exceeds, type Slope, slopeOf } from './slope.ts'
import { startYearClock } from './year-clock.ts'
import { openYearLoad } from './year-load.ts'
import { startYearServer } from './year-server.ts'

export interface YearsOptions {
  /** Empty. */
  directory: string
  years: number
  log: (line: string) => void
}

interface Sample {
  deploys: number
  runs: number
  requests: number
  certificates: number
  backups: number
  directoryBytes: number
  heapBytes: number
  descriptors: number
  startMs: number
}

interface Outcome {
  samples: Sample[]
  /** Of the heap after collections in MiB, once ten minutes have passed; null before that. */
  heapSlope: Slope | null
}

const yearly = { deploys: 50_000, runs: 500_000 }
const parts = 20
const weeksPerYear = 52
const batchRuns = 1000
/** Small, so that they are reached early in a short run too. */
const limits: RetentionLimits = { keepDeploys: 50, keepRuns: 200, logBytes: 2 * 1024 * 1024 }
const weekMs = 7 * 24 * 60 * 60 * 1000
const settledMs = 10 * 60 * 1000
const batchesPerLook = 10
/** Logs stay in memory for a while after their last use: more of them the faster the machine is. */
const calmMs = 20_000
/** The second half must not take more than the first by more than this. */
export const allowedGrowth = 1.5
export const allowedHeapMebibytesPerHour = 1

export async function runYears({ directory, years, log }: YearsOptions): Promise<Outcome> {
  const clock = startYearClock()
  const dataDir = join(directory, 'data')
  const { keyPem, chainPem } = await issueTestCertificate(['week.example.com'])
  const options = { directory: dataDir, clock, limits, pem: `${keyPem}${chainPem}` }
  const counts = partOf(years)
  const samples: Sample[] = []
  const heap: { atMs: number; value: number }[] = []
  const restoreProgram = beProgram()
  let week = 0
  let weeksDone = 0
  const server = await startYearServer(options)
  const load = openYearLoad(server)
  try {
    await createRecoveryKey(dataDir)
    await load.createServices()
    for (let part = 0; part < parts; part++) {
      for (let batch = 0; batch < counts.batches; batch++) {
        await load.liveThrough(counts)
        weeksDone += (years * weeksPerYear) / parts / counts.batches
        clock.advance((years * weeksPerYear * weekMs) / parts / counts.batches)
        for (; week < weeksDone; week++) await load.week(week)
        await server.retain()
        if (batch % batchesPerLook !== 0 || clock.realMs() < settledMs) continue
        await sleep(calmMs)
        heap.push({ atMs: clock.realMs(), value: heapBytes() / 2 ** 20 })
      }
      const startMs = await startCopy(dataDir, join(directory, 'copy'))
      samples.push({ ...load.counts(), startMs, ...measure(directory) })
      log(lineOf(samples.at(-1)!, clock.realMs()))
      const slope = slopeOf(heap)
      if (slope) log(`heap after ten minutes: ${describe(slope)}`)
    }
  } finally {
    load.close()
    await server.stop()
    restoreProgram()
    clock.restore()
  }
  return { samples, heapSlope: slopeOf(heap) }
}

/** The effect of a backup of the server runs the own program again. */
function beProgram(): () => void {
  const [program, execArgv] = [process.argv[1]!, process.execArgv]
  const args = programArgs('src/main')
  process.argv[1] = args.at(-1)!
  process.execArgv = args.slice(0, -1)
  return () => {
    process.argv[1] = program
    process.execArgv = execArgv
  }
}

const starter = fileURLToPath(new URL('year-start.ts', import.meta.url))

/** The processor time that a server takes to start with what this one has. */
async function startCopy(dataDir: string, copy: string): Promise<number> {
  mkdirSync(copy)
  try {
    return Number(await run(process.execPath, ['--import', 'tsx', starter, dataDir, copy]))
  } finally {
    rmSync(copy, { recursive: true })
  }
}

type Measured = 'directoryBytes' | 'heapBytes' | 'descriptors' | 'startMs'

/** The second half against the first, after the limits were reached: the largest, of starts the shortest. */
export function growthOf(samples: readonly Sample[], what: Measured): number {
  const extreme = what === 'startMs' ? Math.min : Math.max
  const of = (some: readonly Sample[]) => extreme(...some.map((sample) => sample[what]))
  const middle = Math.ceil(samples.length / 2)
  return of(samples.slice(middle)) / of(samples.slice(1, middle))
}

const bounded = ['directoryBytes', 'descriptors', 'startMs'] as const

/** What has grown too much, one line each. */
export function growths({ samples, heapSlope }: Outcome): string[] {
  const grown = bounded
    .map((what) => [what, growthOf(samples, what)] as const)
    .filter(([, ratio]) => ratio > allowedGrowth)
    .map(([what, ratio]) => `${what}: ${ratio.toFixed(2)} times the first half`)
  const isLeaking = heapSlope !== null && exceeds(heapSlope, allowedHeapMebibytesPerHour)
  return isLeaking ? [...grown, `heap: ${describe(heapSlope)}`] : grown
}

export const describe = ({ perHour, standardError }: Slope) =>
  `${perHour.toFixed(2)} ± ${(2 * standardError).toFixed(2)} MiB an hour`

function partOf(years: number) {
  const runs = Math.ceil((yearly.runs * years) / parts)
  const batches = Math.ceil(runs / batchRuns)
  const deploys = Math.ceil((yearly.deploys * years) / parts / batches)
  return { batches, deploys, runs: Math.ceil(runs / batches) }
}

function heapBytes(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

function measure(directory: string) {
  return {
    directoryBytes: sizeOf(directory),
    heapBytes: heapBytes(),
    descriptors: readdirSync('/proc/self/fd').length,
  }
}

/** A file may go while it is measured. */
function sizeOf(directory: string): number {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  const sizes = names.map((name) => statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}

function lineOf(
  { directoryBytes, heapBytes, descriptors, startMs, ...counts }: Sample,
  tookMs: number,
): string {
  const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`
  return [
    ...Object.entries(counts).map(([what, count]) => `${count} ${what}`),
    `data ${mebibytes(directoryBytes)}`,
    `heap ${mebibytes(heapBytes)}`,
    `${descriptors} descriptors`,
    `start ${startMs.toFixed(1)} ms`,
    `after ${(tookMs / 60_000).toFixed(1)} min`,
  ].join(' · ')
}
