// Durable transitions per second, each requested after the acknowledgement of the previous one.
import { temporaryDirectory } from '../support/system/directory.ts'
import type { Bench } from './bench.ts'
import { type Figure, figure } from './figure.ts'
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
    figure('durable transitions of 100 actors', median(runs.map(({ perSecond }) => perSecond)), '/s', {
      atLeast: 5000,
    }),
    figure('per CPU second', median(runs.map(({ perSecond, cpuShare }) => perSecond / cpuShare)), '/s'),
    figure('latency, p50', median(latenciesMs), 'ms'),
    figure('latency, p99', percentile(latenciesMs, 99), 'ms'),
    figure('process CPU', median(runs.map(({ cpuShare }) => cpuShare)), 'CPUs'),
  ]
}
