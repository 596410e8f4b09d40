// The delay of log lines for many followers, with and without others that do not read.
import { temporaryDirectory } from '../support/system/directory.ts'
import type { Bench } from './bench.ts'
import type { Figure } from './figure.ts'
import { median } from './percentiles.ts'
import { peakMegabytes } from './process-usage.ts'
import { runProgram, startProgram } from './program.ts'
import type { Followed } from './programs/log-followers.ts'
import type { LogServer } from './programs/log-server.ts'
import { storeDeploys } from './stored-deploys.ts'

type Round = Followed & { peakMegabytes: number }

const linesPerSecond = 1000
/** Enough that a stalled reader is behind at once, whatever the kernel buffers. */
const pastLines = 50_000

export async function measureFollowers(bench: Bench): Promise<Figure[]> {
  const stalled = bench.size(50, 5)
  const readers = bench.size(1000, 100) - stalled
  const rounds = { with: [] as Round[], without: [] as Round[] }
  while (rounds.with.length < bench.size(3, 1)) {
    rounds.without.push(await follow(bench, readers, 0))
    rounds.with.push(await follow(bench, readers, stalled))
  }
  const middle = (list: Round[], field: keyof Round) => median(list.map((round) => round[field]))
  return [
    {
      name: `line delay, ${readers} readers and ${stalled} stalled, p99`,
      value: middle(rounds.with, 'p99Ms'),
      unit: 'ms',
      goal: { atMost: 150 },
    },
    { name: 'p50', value: middle(rounds.with, 'p50Ms'), unit: 'ms' },
    { name: 'maximum', value: middle(rounds.with, 'worstMs'), unit: 'ms' },
    { name: 'p99 without stalled readers', value: middle(rounds.without, 'p99Ms'), unit: 'ms' },
    { name: 'server CPU', value: middle(rounds.with, 'serverCpuShare'), unit: 'CPUs' },
    {
      name: 'server CPU without stalled readers',
      value: middle(rounds.without, 'serverCpuShare'),
      unit: 'CPUs',
    },
    { name: 'client CPU', value: middle(rounds.with, 'ownCpuShare'), unit: 'CPUs' },
    { name: 'peak memory of the server', value: middle(rounds.with, 'peakMegabytes'), unit: 'MB' },
    { name: 'stalled readers dropped', value: middle(rounds.with, 'dropped'), unit: '' },
  ]
}

/** Starts a new server for each round, so that rounds do not affect each other. */
async function follow(bench: Bench, readers: number, stalled: number): Promise<Round> {
  bench.log(`${readers} readers and ${stalled} stalled ones`)
  const directory = temporaryDirectory(bench)
  await storeDeploys(directory, { services: 1, endedDeploys: 0, live: true })
  const serverArgs = [directory, linesPerSecond, pastLines].map(String)
  const server = await startProgram<LogServer>(bench, 'log-server', serverArgs)
  const { port, path, token } = server.report
  const args = [port, path, token, readers, stalled, bench.size(15, 3), server.pid].map(String)
  const followed = await runProgram<Followed>(bench, 'log-followers', args)
  const round = { ...followed, peakMegabytes: peakMegabytes(server.pid) }
  await server.end()
  return round
}
