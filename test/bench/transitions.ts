// Durable transitions per second, each requested after the acknowledgement of the previous one.
import { temporaryDirectory } from '../support/directory.ts'
import type { Bench } from './bench.ts'
import type { Figure } from './figure.ts'
import { median, percentile } from './percentiles.ts'
import { runProgram } from './program.ts'
import type { Transitions } from './programs/transitions.ts'
import { storeDeploys } from './stored-deploys.ts'

export async function measureTransitions(bench: Bench): Promise<Figure[]> {
  const directory = temporaryDirectory(bench)
  await storeDeploys(directory, { services: 100, endedDeploys: 0, live: true })

  bench.say('100 actors are talked to')
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
      name: 'the same for each second of its CPU',
      value: median(runs.map(({ perSecond, cpuShare }) => perSecond / cpuShare)),
      unit: '/s',
    },
    { name: 'acknowledged after, p50', value: median(latenciesMs), unit: 'ms' },
    { name: 'acknowledged after, p99', value: percentile(latenciesMs, 99), unit: 'ms' },
    { name: 'the process uses', value: median(runs.map(({ cpuShare }) => cpuShare)), unit: 'CPUs' },
  ]
}
