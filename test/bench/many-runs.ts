// Many short runs through the API, eight at a time: the throughput, and whether memory and data stay bounded
// by the retention of a thousand runs per service.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStorage } from '../../storage/index.ts'
import type { Api } from '../support/daemon/api.ts'
import type { Bench } from './bench.ts'
import type { Berthd } from './berthd.ts'
import { type Figure, figure } from './figure.ts'
import type { JobService } from './job-service.ts'
import { cpuSeconds, residentMegabytes } from './process-usage.ts'

export interface ManyRuns {
  berthd: Berthd
  service: JobService
  dataDir: string
  /** A tenth more follows: with a thousand runs, that exceeds the retention. */
  count: number
}

interface Moment {
  resident: number
  used: number
  dataMb: number
  logs: number
}

const kept = 1000
/** Requests this many ahead, so that the daemon never waits for the benchmark. */
const clients = 24
/** V8 retains compiled code, and the change feed fills up to its limit of 8192 changes. */
const meantToGrowMb = 4
const bytesPerMegabyte = 1024 * 1024

/** Stops the daemon, because its store is measured last. */
export async function measureManyRuns(bench: Bench, runs: ManyRuns): Promise<Figure[]> {
  const { berthd, service, dataDir, count } = runs
  const beyond = Math.max(1, Math.round(count / 10))
  const before = await atRest(bench, runs)
  const first = await runMany(bench, runs, Math.round(count / 2))
  const middle = await atRest(bench, runs)
  const second = await runMany(bench, runs, count - Math.round(count / 2))
  const full = await atRest(bench, runs)
  const perSecond = count / (first.seconds + second.seconds)
  await runMany(bench, runs, beyond)
  const end = await atRest(bench, runs)
  await berthd.end()
  const records = await countRecords(dataDir, service)
  return [
    figure(`${count} short runs, 8 at a time`, perSecond, '/s'),
    figure('daemon CPU', (first.cpu + second.cpu) / count, 'ms per run'),
    figure('resident before', before.resident, 'MB'),
    figure(`resident after ${Math.round(count / 2)}`, middle.resident, 'MB'),
    figure(`resident after ${count}`, full.resident, 'MB'),
    figure(`heap growth from run ${Math.round(count / 2)} to ${count}`, full.used - middle.used, 'MB', {
      atMost: meantToGrowMb,
    }),
    figure(`data after ${count}`, full.dataMb, 'MB'),
    figure(`data growth after ${beyond} more`, end.dataMb - full.dataMb, 'MB'),
    figure(`logs retained after ${count + beyond} runs`, end.logs, '', { atMost: kept }),
    figure('records retained', records, '', { atMost: kept }),
  ]
}

async function runMany(bench: Bench, { berthd, service }: ManyRuns, count: number) {
  bench.log(`${count} runs`)
  const { api, pid } = berthd
  const [startedAt, cpu] = [performance.now(), cpuSeconds(pid)]
  let requested = 0
  async function ask(): Promise<void> {
    while (requested < count) {
      requested++
      const { id } = await api.post(`/services/${service.id}/jobs`, { command: 'echo one; echo two' })
      await untilOver(api, id)
    }
  }
  await Promise.all(Array.from({ length: clients }, ask))
  return { seconds: (performance.now() - startedAt) / 1000, cpu: (cpuSeconds(pid) - cpu) * 1000 }
}

/** Follows the log, so that no polling is needed. */
async function untilOver(api: Api, id: string): Promise<void> {
  let last = ''
  for await (const { event, data } of api.events(`/jobs/${id}/logs?follow=true`))
    if (event === 'log') last = JSON.parse(data).line
  if (last !== 'succeeded') throw new Error(`${id}: ${last}`)
}

/** After a pause: only an idle process returns memory. */
async function atRest(bench: Bench, { berthd, dataDir }: ManyRuns): Promise<Moment> {
  await sleep(bench.size(30_000, 500))
  const resident = residentMegabytes(berthd.pid)
  const used = await berthd.usedMegabytes()
  return { resident, used, dataMb: sizeOf(dataDir) / bytesPerMegabyte, logs: logsOf(dataDir) }
}

/** In bytes on disk: the store's file is larger than the space it uses. */
function sizeOf(directory: string): number {
  const entries = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  return entries.reduce((sum, name) => sum + statSync(join(directory, name)).blocks * 512, 0)
}

const logsOf = (directory: string) =>
  readdirSync(join(directory, 'logs')).filter((name) => name.startsWith('job-')).length

async function countRecords(directory: string, { id }: JobService): Promise<number> {
  const storage = await openStorage(directory, { onPanic: (reason) => console.error(reason) })
  try {
    return storage.actors.ids('job-run', id).length
  } finally {
    await storage.close()
  }
}
