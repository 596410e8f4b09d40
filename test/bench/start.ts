// The time from the daemon's spawn to its first response to an authenticated request.
import { spawnSync } from 'node:child_process'
import { request } from 'node:http'
import { temporaryDirectory } from '../support/system/directory.ts'
import type { Bench } from './bench.ts'
import { type Berthd, startBerthd, whenHealthy } from './berthd.ts'
import { type Figure, figure, median } from './figure.ts'
import { cpuSeconds } from './load.ts'
import { storeDeploys } from './stored-deploys.ts'

export async function measureStart(bench: Bench): Promise<Figure[]> {
  const services = bench.size(100, 5)
  const directory = temporaryDirectory(bench)
  bench.log(`storing ${services * 100} deploys`)
  await storeDeploys(directory, services, 100)

  bench.log('starting')
  const startsMs: number[] = []
  const cpuMs: number[] = []
  const bareMs: number[] = []
  for (let round = 0; round <= bench.size(11, 1); round++) {
    bareMs.push(startBareNode())
    const berthd = await startBerthd(bench, directory)
    startsMs.push((await firstAnswerAt(berthd)) - berthd.spawnedAt)
    cpuMs.push(cpuSeconds(berthd.pid) * 1000)
    // Waits until its network exists: one that is created during shutdown would be left behind.
    await whenHealthy(berthd)
    await berthd.end()
  }
  return [
    figure(`first response with ${services * 100} stored deploys`, median(startsMs.slice(1)), 'ms', {
      atMost: 500,
    }),
    figure('CPU time', median(cpuMs.slice(1)), 'ms'),
    figure('Node alone, start to exit', median(bareMs.slice(1)), 'ms'),
  ]
}

function startBareNode(): number {
  const startedAt = performance.now()
  spawnSync(process.execPath, ['--eval', '0'])
  return performance.now() - startedAt
}

/** Node's plain client, because the first `fetch` of a process loads much code. */
function firstAnswerAt({ url, headers }: Berthd): Promise<number> {
  return new Promise((resolve, reject) => {
    const requested = request(`${url}/api/v1/services/service-0`, { headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`the first response was ${response.statusCode}`))
      response.resume().on('end', () => resolve(performance.now()))
    })
    requested.on('error', reject).end()
  })
}
