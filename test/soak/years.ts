// Years of deploys and job runs on the real store and the real charts, with effects that end at once and a
// clock that runs ahead. After each part the server starts again. What it keeps must stop growing.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { catalogue } from '../../machines/index.ts'
import type { JobRunInput } from '../../machines/job-run.ts'
import { type RetentionLimits, startRecordRetention } from '../../src/daemon/record-retention.ts'
import { createLogger } from '../../src/logger.ts'
import { Supervisor } from '../../src/supervisor/supervisor.ts'
import { openStorage, type Storage } from '../../storage/index.ts'
import { deployInput, happyEffects } from '../support/machines/deploy-chart.ts'
import { serviceRow } from '../support/storage/store-fixtures.ts'
import { testMac } from '../support/system/test-mac.ts'

export interface YearsOptions {
  directory: string
  years: number
  log: (line: string) => void
}

interface Sample {
  deploys: number
  runs: number
  directoryBytes: number
  heapBytes: number
  descriptors: number
  startMs: number
}

const yearly = { deploys: 50_000, runs: 500_000 }
const parts = 10
const services = 3
/** Small, so that they are reached early in a short run too. */
const limits: RetentionLimits = { keepDeploys: 50, keepRuns: 200, logBytes: 2 * 1024 * 1024 }
const dayMs = 24 * 60 * 60 * 1000
const atOnce = 100
const logger = createLogger({ level: 'silent' })

/** The second half must not take more than the first by more than this. */
export const allowedGrowth = 1.5

export async function runYears({ directory, years, log }: YearsOptions): Promise<Sample[]> {
  const clock = runAhead()
  const serviceIds: string[] = []
  const samples: Sample[] = []
  try {
    for (let part = 0; part < parts; part++) {
      const startedAt = performance.now()
      const server = await start(directory)
      const startMs = performance.now() - startedAt
      if (serviceIds.length === 0) await createServices(server.storage, serviceIds)
      const counts = partOf(years)
      for (let batch = 0; batch < counts.batches; batch++) {
        await liveThrough(server, serviceIds, counts)
        clock.advance((years * 365 * dayMs) / parts / counts.batches)
        await server.retain()
      }
      const done = { deploys: counts.deploys * counts.batches, runs: counts.runs * counts.batches }
      samples.push({ ...done, startMs, ...measure(directory) })
      await server.stop()
      log(lineOf(samples.at(-1)!))
    }
  } finally {
    clock.restore()
  }
  return samples
}

/** The largest of the second half against that of the first, after the limits were reached. */
export function growthOf(samples: readonly Sample[], what: 'directoryBytes' | 'heapBytes' | 'descriptors') {
  const largest = (some: readonly Sample[]) => Math.max(...some.map((sample) => sample[what]))
  const middle = Math.ceil(samples.length / 2)
  return largest(samples.slice(middle)) / largest(samples.slice(1, middle))
}

function partOf(years: number) {
  const runs = Math.ceil((yearly.runs * years) / parts)
  const batches = Math.ceil(runs / 1000)
  const deploys = Math.ceil((yearly.deploys * years) / parts / batches)
  return { batches, deploys, runs: Math.ceil(runs / batches) }
}

/** The store and the supervisor read the time from `Date.now`. */
function runAhead() {
  const now = Date.now
  let aheadMs = 0
  Date.now = () => now() + aheadMs
  return {
    advance: (durationMs: number) => {
      aheadMs += durationMs
    },
    restore: () => {
      Date.now = now
    },
  }
}

async function start(directory: string) {
  const storage = await openStorage(directory, {
    onPanic: (reason) => {
      throw new Error(reason)
    },
  })
  const kinds = { deploy: catalogue.deploy, 'job-run': catalogue['job-run'] }
  const supervisor = new Supervisor({ storage, catalogue: kinds, logger })
  const at = () => new Date(Date.now()).toISOString()
  const ended = () => ({ at: at(), exitCode: 0, startedAt: at(), finishedAt: at() })
  supervisor.provide({
    deploy: happyEffects(),
    'job-run': {
      awaitTurn: async () => ({ at: at(), deployId: 'dep-1', image: 'berth/shop:1', command: null }),
      startRun: async () => ({ at: at(), startedAt: at() }),
      followRun: async () => ({ ...ended(), trouble: null, code: '' }),
      stopRun: async () => ended(),
      clearRun: async () => ({ at: at() }),
    },
  })
  await supervisor.restore()
  return {
    storage,
    supervisor,
    /** As every hour. */
    retain: () =>
      startRecordRetention(
        storage,
        { prefix: 'berth', serverId: storage.serverId, mac: testMac },
        logger,
        limits,
      ).stop(),
    async stop() {
      await supervisor.stop(10_000)
      await storage.close()
    },
  }
}

async function createServices(storage: Storage, ids: string[]): Promise<void> {
  for (let count = 0; count < services; count++) {
    const id = storage.ids.newId('svc')
    await storage.services.create(serviceRow({ id, name: `service-${count}` }))
    ids.push(id)
  }
}

async function liveThrough(
  { storage, supervisor }: Awaited<ReturnType<typeof start>>,
  serviceIds: string[],
  counts: { deploys: number; runs: number },
): Promise<void> {
  const ofService = (place: number) => serviceIds[place % serviceIds.length]!
  const at = () => new Date(Date.now()).toISOString()
  const spawn = (place: number) => {
    const serviceId = ofService(place)
    if (place < counts.deploys) {
      const id = storage.ids.newId('dep')
      const input = deployInput({ id, serviceId, at: at() })
      return { id, done: supervisor.spawn('deploy', id, input, { eventId: `key-${id}` }) }
    }
    const id = storage.ids.newId('job')
    const run = { command: null, image: '', trigger: 'schedule', scheduledFor: null, overlap: null } as const
    const input: JobRunInput = { ...run, id, serviceId, timeoutSeconds: 60, at: at() }
    return { id, done: supervisor.spawn('job-run', id, input) }
  }
  const total = counts.deploys + counts.runs
  for (let from = 0; from < total; from += atOnce) {
    const places = Array.from({ length: Math.min(atOnce, total - from) }, (_, place) => from + place)
    const actors = places.map(spawn)
    await Promise.all(actors.map(({ done }) => done))
    for (const { id } of actors) {
      for (let line = 0; line < 5; line++)
        storage.logs.append(id, 'stdout', 'a line of the output of a program')
    }
    while (actors.some(({ id }) => storage.actors.get(id)?.final === false)) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await Promise.all(actors.map(({ id }) => storage.logs.end(id)))
  }
}

function measure(directory: string) {
  globalThis.gc?.()
  return {
    directoryBytes: sizeOf(directory),
    heapBytes: process.memoryUsage().heapUsed,
    descriptors: readdirSync('/proc/self/fd').length,
  }
}

function sizeOf(directory: string): number {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  return names.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
}

function lineOf({ directoryBytes, heapBytes, descriptors, startMs, deploys, runs }: Sample): string {
  const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`
  return [
    `${deploys} deploys, ${runs} runs`,
    `data ${mebibytes(directoryBytes)}`,
    `heap ${mebibytes(heapBytes)}`,
    `${descriptors} descriptors`,
    `start ${startMs.toFixed(0)} ms`,
  ].join(' · ')
}
