// One run: two services behind the edge under load, one swap after another, then the judgement.
// The load starts when both are live and ends before anything is removed; only its samples count.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Violation } from '../crash/ledger.ts'
import { type Chance, createChance } from '../crash/random.ts'
import { launchDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { finishedDeploy, until } from '../support/daemon/service.ts'
import { edgeArgs, endHostEdge, portOf } from '../support/edge/edge.ts'
import type { Scope } from '../support/system/directory.ts'
import { judgeContainers, judgeLog } from './aftermath.ts'
import { type App, createApp } from './app.ts'
import { readAllTimes } from './deploy-times.ts'
import type { Swap } from './evidence.ts'
import { judge } from './judge.ts'
import { startLoad } from './load.ts'
import { type LoadPlan, lastingStreams, type ServiceLoad } from './plan.ts'
import { createSwaps } from './swaps.ts'

export interface Outcome {
  swaps: Swap[]
  violations: Violation[]
}

export interface SoakOptions {
  swaps: number
  seed: number
  /** The drain limit; slow requests take between a thirtieth and about two thirds of it. */
  drainSeconds: number
  edge: 'container' | 'host'
  log: (line: string) => void
}

interface Run extends SoakOptions {
  daemon: TestDaemon
  ports: { http: number; https: number }
  chance: Chance
  app: App
  neighbour: App
  scope: Scope
}

const pauseMs = { least: 500, most: 2500 }
/** Load before the first swap and after the last one. */
const quietMs = 3000

export async function runSoak(options: SoakOptions): Promise<Outcome> {
  const cleanups: (() => unknown)[] = []
  const scope = { after: (cleanup: () => unknown) => void cleanups.unshift(cleanup) }
  const clean = async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup()
  }
  const leave = () => void clean().finally(() => process.exit(130))
  process.once('SIGINT', leave).once('SIGTERM', leave)
  try {
    return await swapAndJudge(await openRun(scope, options))
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave)
    await clean()
  }
}

async function openRun(scope: Scope, options: SoakOptions): Promise<Run> {
  const edge = await edgeArgs(options.edge)
  // Retains every image, so that each version can be rolled back to.
  const daemon = await launchDaemon({ args: [...edge, '--keep-images=1000'] })
  scope.after(() => endHostEdge(daemon.dataDir))
  scope.after(() => daemon.remove())
  const chance = createChance(options.seed)
  const { api } = daemon
  const { drainSeconds } = options
  const [app, neighbour] = await Promise.all([
    createApp(scope, api, chance.fork(), { name: 'shop', instances: 2, drainSeconds }),
    createApp(scope, api, chance.fork(), { name: 'wiki', instances: 1, drainSeconds }),
  ])
  const ports = { http: portOf(edge, '--http-port'), https: portOf(edge, '--https-port') }
  // A second version, so that a rollback has a target.
  await Promise.all([app, neighbour].map((one) => deployNext(daemon, one)))
  return { ...options, daemon, ports, chance, app, neighbour, scope }
}

async function swapAndJudge(run: Run): Promise<Outcome> {
  const { daemon, app, neighbour } = run
  const plan = planOf(run)
  const load = startLoad(plan)
  run.scope.after(() => load.kill())
  const violations: Violation[] = []
  await until('all streams to be open', async () => load.open === lastingStreams(plan))
  const beganAt = Date.now()
  await sleep(quietMs)
  const swaps = await swapAll(run, violations)
  await sleep(quietMs)
  const loadMs = Date.now() - beganAt
  await load.stop().catch((error: Error) => violations.push(toViolation('the load runs to its end', error)))
  const deploys = await readAllTimes(daemon.api, [app, neighbour])
  const { requests, streams } = load
  const evidence = { plan, loadMs, requests, streams, swaps, deploys }
  violations.push(
    ...judge(evidence),
    ...(await judgeContainers(daemon, [app, neighbour])),
    ...judgeLog(daemon),
  )
  return { swaps, violations }
}

/** Runs one swap after another and stops at the first that fails. */
async function swapAll(run: Run, violations: Violation[]): Promise<Swap[]> {
  const { daemon, app, neighbour, chance, drainSeconds } = run
  const drainMs = drainSeconds * 1000
  const next = createSwaps({ api: daemon.api, app, neighbour, chance: chance.fork(), drainMs })
  const pauses = chance.fork()
  const swaps: Swap[] = []
  while (swaps.length < run.swaps && violations.length === 0) {
    try {
      const swap = await next()
      swaps.push(swap)
      run.log(swapLine(swap))
    } catch (error) {
      violations.push(toViolation('every swap goes live and drains', error as Error))
    }
    await sleep(pauses.between(pauseMs.least, pauseMs.most))
  }
  return swaps
}

function planOf({ chance, ports, app, neighbour, drainSeconds }: Run): LoadPlan {
  const loadOf = ({ name }: App, perSecond: number, encryptedPerSecond: number) => ({
    service: name,
    host: `${name}.localhost`,
    port: ports.http,
    perSecond,
    encrypted: { port: ports.https, perSecond: encryptedPerSecond },
    slowMs: { least: (drainSeconds * 1000) / 30, most: maxSlowMs(drainSeconds) },
  })
  const services: ServiceLoad[] = [
    { ...loadOf(app, 180, 20), slow: 20, webSockets: 20, eventStreams: 5 },
    { ...loadOf(neighbour, 8, 2), slow: 2, webSockets: 5, eventStreams: 2 },
  ]
  return { seed: chance.whole(0, 2 ** 31), services }
}

/** Two thirds of the drain limit, with enough margin that a busy machine cannot cause a violation. */
function maxSlowMs(drainSeconds: number): number {
  return Math.max(500, Math.min((drainSeconds * 2000) / 3, drainSeconds * 1000 - 3000))
}

async function deployNext({ api }: TestDaemon, app: App): Promise<void> {
  app.release()
  const { status, error } = await finishedDeploy(api, (await api.post(`/services/${app.id}/deploys`)).id)
  if (status !== 'live') throw new Error(`the second version of ${app.name} is ${status}: ${error}`)
}

function swapLine({ number, kind, service, words, askedAt, liveAt, doneAt }: Swap): string {
  const took = `live ${seconds(liveAt - askedAt)}, drained ${seconds(doneAt - askedAt)}`
  return `swap ${String(number).padStart(2)}  ${kind.padEnd(8)} ${service.padEnd(5)} ${took}  ${words}`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

function toViolation(rule: string, error: Error): Violation {
  const cause = error.cause === undefined ? [] : [String(error.cause)]
  return { rule, text: error.message, evidence: cause }
}
