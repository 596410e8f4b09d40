// How long the supervisor takes to restore its actors when the store also has many ended ones.
import { temporaryDirectory } from '../support/system/directory.ts'
import type { Bench } from './bench.ts'
import type { Figure } from './figure.ts'
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
    { name: `${services} actors restored`, value: middle('restoreMs'), unit: 'ms', goal: { atMost: 300 } },
    { name: 'CPU time', value: middle('restoreCpuMs'), unit: 'ms' },
    { name: 'opening the store', value: middle('openMs'), unit: 'ms' },
    { name: 'resident memory', value: middle('residentMegabytes'), unit: 'MB' },
  ]
}
