// The cost of authentication, and the effect of sign-ins on other requests.
import { join } from 'node:path'
import { owner, signUp } from '../support/http/session.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import type { Bench } from './bench.ts'
import { type Berthd, startBerthd, whenHealthy } from './berthd.ts'
import type { Figure } from './figure.ts'
import { requestsPerCpuSecond } from './load.ts'
import { median } from './percentiles.ts'
import { runProgram } from './program.ts'
import { storeDeploys } from './stored-deploys.ts'

/** Below the limit of failed attempts: each attempt counts as failed until it succeeds. */
const browsers = 8

export async function measureAccount(bench: Bench): Promise<Figure[]> {
  return [...(await measureAuthentication(bench)), ...(await measureLogins(bench))]
}

interface Looks {
  token: number
  session: number
  server: number
}

/** The time of one authentication relative to a whole request that lists 20 deploys. */
async function measureAuthentication(bench: Bench): Promise<Figure[]> {
  const directory = temporaryDirectory(bench)
  const [serviceId] = await storeDeploys(join(directory, 'list'), {
    services: 1,
    endedDeploys: 20,
    live: false,
  })
  const berth = await startBerthd(bench, join(directory, 'list'))
  await whenHealthy(berth)
  const shares: number[] = []
  const looks: Looks[] = []
  for (let round = 0; round <= bench.size(5, 1); round++) {
    bench.log(round === 0 ? 'a list of 20, warming up' : `a list of 20, round ${round}`)
    const path = `/api/v1/services/${serviceId}/deploys?limit=20`
    const rate = await requestsPerCpuSecond(berth, path, bench.size(2, 1))
    const look = await runProgram<Looks>(bench, 'authentication', [join(directory, `look-${round}`)])
    if (round === 0) continue
    looks.push(look)
    shares.push(Math.max(look.token, look.session) / (1e6 / rate))
  }
  await berth.end()
  const middle = (kind: keyof Looks) => median(looks.map((look) => look[kind]))
  return [
    {
      name: 'authentication, share of listing 20 deploys',
      value: median(shares),
      unit: '',
      goal: { atMost: 0.1 },
    },
    { name: 'authentication by a token', value: middle('token'), unit: 'us' },
    { name: 'authentication by a session', value: middle('session'), unit: 'us' },
  ]
}

async function measureLogins(bench: Bench): Promise<Figure[]> {
  const dataDir = temporaryDirectory(bench)
  const berth = await startBerthd(bench, dataDir, { probed: true })
  await whenHealthy(berth)
  await signUp(berth.url, dataDir)
  const durationMs = bench.size(10_000, 1000)
  const idle = await delayWhile(berth, () => requestHealth(berth, durationMs))
  bench.log(`${browsers} browsers sign in`)
  let logins = 0
  const busy = await delayWhile(berth, async () => {
    const counts = Array.from({ length: browsers }, () => signInFor(berth, durationMs))
    logins = (await Promise.all(counts)).reduce((sum, count) => sum + count)
  })
  return [
    { name: 'logins', value: logins / (durationMs / 1000), unit: '/s' },
    { name: 'event loop delay during logins, p99', value: busy, unit: 'ms', goal: { atMost: 20 } },
    { name: 'event loop delay without logins, p99', value: idle, unit: 'ms' },
  ]
}

/** The 99th percentile of the event loop's delay, in milliseconds. */
async function delayWhile(berth: Berthd, work: () => Promise<unknown>): Promise<number> {
  await berth.probe()
  await work()
  return (await berth.probe()).loopDelayMs
}

async function requestHealth({ url }: Berthd, durationMs: number): Promise<void> {
  for (const end = performance.now() + durationMs; performance.now() < end; ) await fetch(`${url}/healthz`)
}

async function signInFor({ url }: Berthd, durationMs: number): Promise<number> {
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(owner),
  }
  let count = 0
  for (const end = performance.now() + durationMs; performance.now() < end; count++) {
    const { status } = await fetch(`${url}/api/v1/auth/login`, request)
    if (status !== 200) throw new Error(`a login was answered ${status}`)
  }
  return count
}
