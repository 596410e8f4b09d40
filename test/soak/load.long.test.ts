// The load of the soak on an app without an edge: it must see what is well, and see everything that is not.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import type { Violation } from '../crash/ledger.ts'
import { until } from '../support/daemon/service.ts'
import { appProgram } from './app.ts'
import { judge } from './judge.ts'
import { type Load, startLoad } from './load.ts'
import type { LoadPlan } from './plan.ts'

const deploy = 'dep-1'
/** Of the streams; the others come and go. */
const lasting = 5
const streams = { webSockets: 6, eventStreams: 4 }

async function startApp(t: TestContext, manner: string, port = 0) {
  const env = { ...process.env, PORT: String(port), BERTH_DEPLOY_ID: deploy }
  const app = spawn(process.execPath, [appProgram, 'v1', manner, '0'], { env, stdio: ['ignore', 'pipe', 2] })
  t.after(() => app.kill('SIGKILL'))
  const [line] = await once(createInterface({ input: app.stdout! }), 'line')
  return { app, port: Number(/\d+$/.exec(line)![0]) }
}

async function startLoadOn(t: TestContext, port: number): Promise<{ load: Load; plan: LoadPlan }> {
  const rates = { perSecond: 100, encrypted: null, slow: 6, slowMs: { least: 100, most: 1000 }, ...streams }
  const plan = { seed: 7, services: [{ service: 'shop', host: 'shop.localhost', port, ...rates }] }
  const load = startLoad(plan)
  t.after(() => load.kill())
  await until('all streams to be open', async () => load.open === lasting)
  await until('a slow request of each kind', async () => slowKindsIn(load).length === 3)
  return { load, plan }
}

function slowKindsIn({ requests }: Load): string[] {
  const kinds = new Set(requests.map(({ kind }) => kind))
  return [...kinds].filter((kind) => kind !== 'get' && kind !== 'post').sort()
}

/** What the judge says of a load that met no swap. */
function judged({ load, plan }: { load: Load; plan: LoadPlan }): Violation[] {
  const { requests, streams } = load
  const since = { switchingAt: 0, liveAt: 1, drainingAt: null, deactivatedAt: null }
  const deploys = [{ id: deploy, service: 'shop', ...since }]
  return judge({ plan, loadMs: 1000, requests, streams, swaps: [], deploys })
}

const rulesOf = (violations: Violation[]) => [...new Set(violations.map(({ rule }) => rule))].sort()

function kill(app: ChildProcess, signal: NodeJS.Signals): Promise<unknown> {
  const gone = once(app, 'exit')
  app.kill(signal)
  return gone
}

test('a load on a running app reports no failures and identifies the responding version', async (t) => {
  const { port } = await startApp(t, 'ignoring')
  const { load, plan } = await startLoadOn(t, port)

  await load.stop()

  assert.deepEqual(judged({ load, plan }), [])
  const instances = new Set([...load.requests, ...load.streams].map(({ instance }) => instance))
  assert.equal(instances.size, 1)
  assert.deepEqual(slowKindsIn(load), ['streaming', 'uploading', 'waiting'])
})

test('a load on a killed app reports refused requests and cut slow requests and streams', async (t) => {
  const { app, port } = await startApp(t, 'ignoring')
  const { load, plan } = await startLoadOn(t, port)

  await kill(app, 'SIGKILL')
  const isRefused = async () => load.requests.some(({ fault }) => fault?.includes('ECONNREFUSED'))
  await until('a request to be refused', isRefused)
  await load.stop()

  const violations = judged({ load, plan })
  assert.deepEqual(rulesOf(violations), [
    'no request fails',
    'no slow request fails',
    'streams end only with their instance, and not before the drain limit',
    'streams open and carry every message',
  ])
  const cut = load.streams.filter(({ ending }) => ending?.startsWith('cut'))
  assert.ok(cut.length >= lasting, `${cut.length} streams were cut`)
})

test('streams closed with a goodbye and cut streams are distinguished, and both are reopened', async (t) => {
  const { app, port } = await startApp(t, 'graceful')
  const { load } = await startLoadOn(t, port)

  await kill(app, 'SIGTERM')
  await startApp(t, 'graceful', port)
  await until('all streams to be open again', async () => load.open === lasting)
  await load.stop()

  const endings = load.streams.flatMap(({ ending }) => ending ?? [])
  assert.deepEqual([...new Set(endings)].sort(), ['close 1001', 'goodbye'])
  assert.ok(endings.length >= lasting, `${endings.length} streams were ended`)
  const instances = new Set(load.streams.flatMap(({ instance }) => instance ?? []))
  assert.equal(instances.size, 2)
})
