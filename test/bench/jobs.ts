// Job runs: the time to the first log line, what many of them leave behind, and the cost of schedules.
import { temporaryDirectory } from '../support/system/directory.ts'
import type { Bench } from './bench.ts'
import { startBerthd, whenHealthy } from './berthd.ts'
import type { Figure } from './figure.ts'
import { measureFirstLine } from './first-line.ts'
import { createIdle, createRepositoryOfNothing } from './job-service.ts'
import { measureManyRuns } from './many-runs.ts'
import { measureDrift, measureIdleSchedules } from './schedules.ts'

export async function measureJobs(bench: Bench): Promise<Figure[]> {
  const dataDir = temporaryDirectory(bench)
  const berthd = await startBerthd(bench, dataDir, { probed: true, args: ['--job-concurrency=8'] })
  await whenHealthy(berthd)
  const service = await createIdle(berthd.api, await createRepositoryOfNothing(bench))
  const count = bench.runs ?? bench.size(1000, 20)
  return [
    ...(await measureFirstLine(bench, berthd, service)),
    ...(await measureManyRuns(bench, { berthd, service, dataDir, count })),
    ...(await measureIdleSchedules(bench)),
    ...(await measureDrift(bench)),
  ]
}
