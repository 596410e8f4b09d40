// The CPU cost of an API response, compared with a bare uWebSockets.js server and with node:http, which read
// the same rows.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../support/system/directory.ts'
import type { Bench } from './bench.ts'
import { startBerthd, whenHealthy } from './berthd.ts'
import { type Figure, figure } from './figure.ts'
import { requestsPerCpuSecond, type Target } from './load.ts'
import { median } from './percentiles.ts'
import { startProgram } from './program.ts'
import { storeDeploys } from './stored-deploys.ts'

const servers = ['berth', 'raw uWS', 'node:http'] as const
type Server = (typeof servers)[number]
type Rates = Record<Server, number>

export async function measureApi(bench: Bench): Promise<Figure[]> {
  const { targets, serviceId } = await startServers(bench)
  const list = await measure(bench, targets, `/api/v1/services/${serviceId}/deploys?limit=20`)
  const hello = await measure(bench, targets, '/healthz')
  return [
    figure('20 deploys with a token, relative to raw uWS', ratio(list, 'raw uWS'), '', { atLeast: 0.8 }),
    figure('20 deploys with a token, relative to node:http', ratio(list, 'node:http'), ''),
    ...rates('20 deploys with a token', list),
    figure('hello, relative to raw uWS', ratio(hello, 'raw uWS'), ''),
    ...rates('hello', hello),
  ]
}

/** Each server uses a copy of the same rows, because a data directory has a single owner. */
async function startServers(bench: Bench) {
  const directory = temporaryDirectory(bench)
  const copies = [0, 1, 2].map((number) => join(directory, String(number))) as [string, string, string]
  const [serviceId] = await storeDeploys(copies[0], { services: 1, endedDeploys: 20, live: false })
  for (const copy of copies.slice(1)) cpSync(copies[0], copy, { recursive: true })

  const berth = await startBerthd(bench, copies[0])
  await whenHealthy(berth)
  const { headers } = berth
  const bare = async (program: string, copy: string): Promise<Target> => {
    const { pid, report } = await startProgram<{ port: number }>(bench, program, [copy])
    return { pid, headers, url: `http://127.0.0.1:${report.port}` }
  }
  const targets = {
    berth,
    'raw uWS': await bare('raw-uws', copies[1]),
    'node:http': await bare('node-http', copies[2]),
  }
  return { targets, serviceId }
}

/** Alternates between the servers; the first round only warms up. */
async function measure(bench: Bench, targets: Record<Server, Target>, path: string): Promise<Rates[]> {
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
function ratio(rounds: Rates[], to: Server): number {
  return median(rounds.map((rates) => rates.berth / rates[to]))
}

function rates(what: string, rounds: Rates[]): Figure[] {
  return servers.map((server) =>
    figure(`${what}, ${server}, per CPU second`, median(rounds.map((round) => round[server])), '/s'),
  )
}
