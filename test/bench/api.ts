// The CPU cost of an API response, compared with a bare uWebSockets.js server, which reads the same rows.
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { temporaryDirectory } from '../support/system/directory.ts'
import type { Bench } from './bench.ts'
import { startBerthd, whenHealthy } from './berthd.ts'
import { endProcess } from './built.ts'
import { type Figure, figure, median } from './figure.ts'
import { requestsPerCpuSecond, type Target } from './load.ts'
import { storeDeploys } from './stored-deploys.ts'

const servers = ['berth', 'raw uWS'] as const
type Rates = Record<(typeof servers)[number], number>

export async function measureApi(bench: Bench): Promise<Figure[]> {
  const { targets, serviceId } = await startServers(bench)
  const list = await measure(bench, targets, `/api/v1/services/${serviceId}/deploys?limit=20`)
  const hello = await measure(bench, targets, '/healthz')
  return [
    figure('20 deploys with a token, relative to raw uWS', ratio(list), '', { atLeast: 0.8 }),
    ...rates('20 deploys with a token', list),
    figure('hello, relative to raw uWS', ratio(hello), ''),
    ...rates('hello', hello),
  ]
}

/** Each server uses a copy of the same rows, because a data directory has a single owner. */
async function startServers(bench: Bench) {
  const directory = temporaryDirectory(bench)
  const [own, copy] = [join(directory, 'own'), join(directory, 'copy')]
  const [serviceId] = await storeDeploys(own, 1, 20)
  cpSync(own, copy, { recursive: true })
  const berth = await startBerthd(bench, own)
  await whenHealthy(berth)
  return { targets: { berth, 'raw uWS': await startRaw(bench, copy, berth.headers) }, serviceId }
}

async function startRaw(bench: Bench, directory: string, headers: Target['headers']): Promise<Target> {
  const child = bench.programs.spawn('test/bench/programs/raw-uws.js', [directory])
  bench.after(() => endProcess(child))
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`raw-uws ended with ${code}`)))
  failed.catch(() => undefined)
  const [line] = await Promise.race([once(createInterface({ input: child.stdout! }), 'line'), failed])
  return { pid: child.pid!, headers, url: `http://127.0.0.1:${JSON.parse(line).port}` }
}

/** Alternates between the servers; the first round only warms up. */
async function measure(bench: Bench, targets: Record<keyof Rates, Target>, path: string): Promise<Rates[]> {
  const rounds: Rates[] = []
  for (let round = 0; round <= bench.size(7, 1); round++) {
    bench.log(`${path.split('/').at(-1)}, ${round === 0 ? 'warming up' : `round ${round}`}`)
    const rates: Partial<Rates> = {}
    for (const server of servers) {
      rates[server] = await requestsPerCpuSecond(targets[server], path, bench.size(2, 1))
    }
    if (round > 0) rounds.push(rates as Rates)
  }
  return rounds
}

/** Ratios are taken within each round, because the machine's speed changes between rounds. */
function ratio(rounds: Rates[]): number {
  return median(rounds.map((rates) => rates.berth / rates['raw uWS']))
}

function rates(what: string, rounds: Rates[]): Figure[] {
  return servers.map((server) =>
    figure(`${what}, ${server}, per CPU second`, median(rounds.map((round) => round[server])), '/s'),
  )
}
