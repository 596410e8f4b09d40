// How long the supervisor takes to restore its actors when the store also has many ended ones.
import { temporaryDirectory } from '../support/system/directory.ts'
import type { Bench } from './bench.ts'
import { type Figure, figure } from './figure.ts'
import { median } from './percentiles.ts'
import { runProgram } from './program.ts'
import type { Restored } from './programs/restore.ts'
import { storeDeploys } from './stored-deploys.ts'

export async function measureRestore(bench: Bench): Promise<Figure[]> {
  const services = bench.size(1000, 50)
  const endedDeploys = 100
  const directory = temporaryDirectory(bench)
  bench.log(`storing ${services * endedDeploys} ended deploys and ${services} live ones`)
  await storeDeploys(directory, { services, endedDeploys, live: true })

  bench.log('restoring them')
  const runs: Restored[] = []
  while (runs.length < bench.size(7, 1)) {
    runs.push(await runProgram<Restored>(bench, 'restore', [directory, String(services)]))
  }
  const middle = (field: keyof Restored) => median(runs.map((run) => run[field]))
  return [
    figure(`${services} actors restored`, middle('restoreMs'), 'ms', { atMost: 300 }),
    figure('CPU time', middle('restoreCpuMs'), 'ms'),
    figure('opening the store', middle('openMs'), 'ms'),
    figure('resident memory', middle('residentMegabytes'), 'MB'),
  ]
}
