// Durable transitions per second, each requested after the acknowledgement of the previous one.
import { temporaryDirectory } from '../support/system/directory.ts'
import type { Bench } from './bench.ts'
import type { Figure } from './figure.ts'
import { median, percentile } from './percentiles.ts'
import { runProgram } from './program.ts'
import type { Transitions } from './programs/transitions.ts'
import { storeDeploys } from './stored-deploys.ts'

export async function measureTransitions(bench: Bench): Promise<Figure[]> {
  const directory = temporaryDirectory(bench)
  await storeDeploys(directory, { services: 100, endedDeploys: 0, live: true })

  bench.log('sending events to 100 actors')
  const runs: Transitions[] = []
  while (runs.length < bench.size(5, 1)) {
    const seconds = String(bench.size(4, 0.5))
    runs.push(await runProgram<Transitions>(bench, 'transitions', [directory, seconds]))
  }
  const latenciesMs = runs.flatMap((run) => run.latenciesMs)
  return [
    {
      name: 'durable transitions of 100 actors',
      value: median(runs.map(({ perSecond }) => perSecond)),
      unit: '/s',
      goal: { atLeast: 5000 },
    },
    {
      name: 'per CPU second',
      value: median(runs.map(({ perSecond, cpuShare }) => perSecond / cpuShare)),
      unit: '/s',
    },
    { name: 'latency, p50', value: median(latenciesMs), unit: 'ms' },
    { name: 'latency, p99', value: percentile(latenciesMs, 99), unit: 'ms' },
    { name: 'process CPU', value: median(runs.map(({ cpuShare }) => cpuShare)), unit: 'CPUs' },
  ]
}
