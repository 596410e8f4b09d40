// The idle cost of schedules, and the delay of many that are due at once.
// The services are written directly to the store, because deploying hundreds would take an hour. The
// runs are real.
import { setTimeout as sleep } from 'node:timers/promises'
import { openStorage } from '../../storage/index.ts'
import type { Body } from '../support/daemon/api.ts'
import { until } from '../support/daemon/service.ts'
import { baseImages } from '../support/docker/images.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import type { Bench } from './bench.ts'
import { type Berthd, startBerthd, whenHealthy } from './berthd.ts'
import { type Figure, figure } from './figure.ts'
import { percentile } from './percentiles.ts'
import { cpuSeconds, residentMegabytes } from './process-usage.ts'
import { storeDeploys } from './stored-deploys.ts'

const minuteMs = 60_000
/** The startup of the daemon must not overlap the due time. */
const leadMs = 15_000

export async function measureIdleSchedules(bench: Bench): Promise<Figure[]> {
  const count = bench.size(500, 20)
  const seconds = bench.size(20, 1)
  bench.log(`${count} idle schedules`)
  const withNone = await measureUsage(bench, await startWith(bench, 0, '0 0 1 1 *'), seconds)
  const withAll = await measureUsage(bench, await startWith(bench, count, '0 0 1 1 *'), seconds)
  return [
    figure(`${count} idle schedules`, withAll.cpuMs, 'ms CPU/s'),
    figure('no schedules', withNone.cpuMs, 'ms CPU/s'),
    figure(`resident with ${count} schedules`, withAll.resident, 'MB'),
    figure('resident without schedules', withNone.resident, 'MB'),
  ]
}

async function measureUsage(bench: Bench, berthd: Berthd, seconds: number) {
  await sleep(bench.size(10_000, 500))
  const before = cpuSeconds(berthd.pid)
  await sleep(seconds * 1000)
  const cpuMs = ((cpuSeconds(berthd.pid) - before) * 1000) / seconds
  const resident = residentMegabytes(berthd.pid)
  await berthd.end()
  return { cpuMs, resident }
}

export async function measureDrift(bench: Bench): Promise<Figure[]> {
  const count = bench.size(100, 5)
  const leftMs = minuteMs - (Date.now() % minuteMs)
  if (leftMs < leadMs) await sleep(leftMs)
  const { api } = await startWith(bench, count, '* * * * *')
  bench.log(`${count} schedules are due at the next full minute`)
  const instant = new Date(Math.ceil(Date.now() / minuteMs) * minuteMs).toISOString()
  await sleep(Date.parse(instant) - Date.now())
  const firstRuns = async () => {
    const runs: Body[] = []
    for (let index = 0; index < count; index++) {
      const list: Body[] = await api.get(`/services/service-${index}/jobs`)
      runs.push(...list.filter((run) => run.scheduled_for === instant))
    }
    return runs
  }
  const runs = await until(`${count} runs of ${instant} to begin`, async () => {
    const started = await firstRuns()
    await sleep(1000)
    return started.length === count && started.every(({ started_at }) => started_at !== null) ? started : null
  })
  const late = (field: 'created_at' | 'started_at', percent: number) =>
    percentile(
      runs.map((run) => Date.parse(run[field]) - Date.parse(instant)),
      percent,
    )
  return [
    figure(`${count} schedules due at once: delay of the record, p50`, late('created_at', 50), 'ms'),
    figure('maximum', late('created_at', 100), 'ms'),
    figure('delay of the container, minimum', late('started_at', 0), 'ms'),
    figure('p50, 8 at a time', late('started_at', 50), 'ms'),
    figure('maximum', late('started_at', 100), 'ms'),
  ]
}

/** A running daemon with this many cron jobs, which have this schedule and do nothing. */
async function startWith(bench: Bench, services: number, schedule: string): Promise<Berthd> {
  const directory = temporaryDirectory(bench)
  const { busybox: image } = await baseImages()
  const settings = { type: 'cron_job', schedule, timezone: 'UTC', start_command: 'true' } as const
  const wanted = { services, endedDeploys: 0, live: services > 0, settings, image }
  await storeDeploys(directory, wanted)
  await freezeReleases(directory)
  const berthd = await startBerthd(bench, directory)
  await whenHealthy(berthd)
  return berthd
}

async function freezeReleases(directory: string): Promise<void> {
  const storage = await openStorage(directory, { onPanic: (reason) => console.error(reason) })
  try {
    for (const service of storage.services.list()) {
      const release = { settings: service, env: [], resolved: [] }
      if (service.live_deploy_id) await storage.releases.freeze(service.live_deploy_id, () => release)
    }
  } finally {
    await storage.close()
  }
}
