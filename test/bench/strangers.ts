// What a thousand connections of strangers cost the others: their latency, relative to a quiet server.
import { temporaryDirectory } from '../support/system/directory.ts'
import type { Bench } from './bench.ts'
import { startBerthd, whenHealthy } from './berthd.ts'
import { endProcess } from './built.ts'
import { type Figure, figure, median, percentile } from './figure.ts'
import { measureLatencies } from './load.ts'
import { storeDeploys } from './stored-deploys.ts'

const warmUpMs = 5000

export async function measureStrangers(bench: Bench): Promise<Figure[]> {
  const directory = temporaryDirectory(bench)
  const [serviceId] = await storeDeploys(directory, 1, 20)
  const berthd = await startBerthd(bench, directory)
  await whenHealthy(berthd)
  const url = `${berthd.url}/api/v1/services/${serviceId}/deploys?limit=20`
  const target = { ...berthd, url }
  const tail = async () => percentile(await measureLatencies(target, bench.size(5, 2)), 99)
  await tail()
  const rounds: { quiet: number; beset: number }[] = []
  for (let round = 0; round < bench.size(3, 1); round++) {
    bench.log(`round ${round + 1}`)
    const quiet = await tail()
    const args = [new URL(berthd.url).port, String(bench.size(1000, 100))]
    const strangers = bench.programs.spawn('test/bench/programs/strangers.js', args)
    bench.after(() => endProcess(strangers))
    await new Promise((resolve) => setTimeout(resolve, warmUpMs))
    rounds.push({ quiet, beset: await tail() })
    await endProcess(strangers)
  }
  return [
    figure(
      'p99 of 20 deploys with 1,000 anonymous connections, relative to an idle server',
      median(rounds.map(({ quiet, beset }) => beset / quiet)),
      '',
      { atMost: 1.2 },
    ),
    figure('p99 of 20 deploys, quiet', median(rounds.map(({ quiet }) => quiet)), 'ms'),
  ]
}
