// The Docker engine stops, hangs or is killed while a deploy is in each of its phases: every deploy goes
// live or fails with a reason, its service serves, and nothing partial remains. Uses a private engine.
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openStorage } from '../../storage/index.ts'
import type { Body } from '../support/daemon/api.ts'
import { findLeftovers, findObjectsOf } from '../support/daemon/leftovers.ts'
import {
  createPausedService,
  type PausedService,
  type Phase,
  pauseDeploys,
  phases,
  resumeDeploys,
} from '../support/daemon/paused-deploys.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { fetchPage, finishedDeploy, until } from '../support/daemon/service.ts'
import { type EngineSite, openSite, testInside } from '../support/docker/engine-site.ts'
import type { NamespaceEngine } from '../support/docker/namespace-engine.ts'
import { sized } from '../support/system/drill-size.ts'
import { isInside, whyNoNamespace } from '../support/system/namespace.ts'

interface Fault {
  begin(engine: NamespaceEngine): unknown
  awayMs: number
  end(engine: NamespaceEngine): unknown
}

const stop: Fault = { begin: (engine) => engine.stop(), awayMs: 1000, end: (engine) => engine.start() }
const kill: Fault = { begin: (engine) => engine.kill(), awayMs: 0, end: (engine) => engine.start() }
const hang: Fault = { begin: (engine) => engine.pause(), awayMs: 6000, end: (engine) => engine.resume() }

interface Round {
  what: string
  fault: Fault
  /** Whether the deploys continue while the engine is down, or when it is back. */
  duringFault: boolean
  phases: readonly Phase[]
}

const few: Round[] = [
  { what: 'stopped', fault: stop, duringFault: true, phases },
  { what: 'hanging', fault: hang, duringFault: true, phases },
  { what: 'killed', fault: kill, duringFault: true, phases },
]
const smoke: Round[] = [{ ...few[2]!, phases: ['building', 'checking', 'switching'] }]
const all: Round[] = [
  ...few,
  {
    what: 'hanging for longer than any call waits',
    fault: { ...hang, awayMs: 40_000 },
    duringFault: true,
    phases,
  },
  ...few.map((round) => ({ ...round, duringFault: false })),
]

const scope = fileScope()

function inside(): void {
  let site: EngineSite
  const services: PausedService[] = []

  before(async () => {
    site = await openSite(scope, process.env.PREPARED!)
    const held = sized(smoke[0]!.phases, phases)
    const creating = held.map((phase) => createPausedService(scope, site.holds, phase))
    services.push(...(await Promise.all(creating)))
  })

  for (const [number, round] of sized(smoke, all).entries()) {
    const when = round.duringFault ? 'continue during the fault' : 'continue afterwards'
    test(`deploys in each phase: the engine is ${round.what}, they ${when}`, async (t) => {
      const held = services.filter(({ phase }) => round.phases.includes(phase))
      const { pid, log, api } = site.daemon
      const clock = stopwatch(t)
      await pauseDeploys(site.holds, held, number + 1)
      clock('all are held')

      await goThrough(site, round)
      clock('the fault has ended')

      await Promise.all(held.map((service) => requireEnd(t, site, service)))
      clock('all is whole')
      assert.equal(site.daemon.pid, pid)
      assert.equal((await fetch(`${api.url}/healthz`)).status, 200)
      assert.deepEqual(troubles(log), [])
    })
  }

  test('no partial data is left on disk', () => requireTidyDisk(site))
}

async function goThrough({ engine, holds }: EngineSite, { fault, duringFault }: Round): Promise<void> {
  await fault.begin(engine)
  if (duringFault) resumeDeploys(holds)
  await delay(fault.awayMs)
  await fault.end(engine)
  resumeDeploys(holds)
}

async function requireTidyDisk({ daemon }: EngineSite): Promise<void> {
  const records: Body[] = await daemon.api.get('/services')
  assert.equal(await daemon.stop(), 0)
  const work = join(daemon.dataDir, 'work')
  assert.deepEqual(existsSync(work) ? readdirSync(work) : [], [])
  const storage = await openStorage(daemon.dataDir, { onPanic: assert.fail })
  const live = records.map((record) => record.live_deploy_id).sort()
  assert.deepEqual(storage.addresses.deployIds().sort(), live)
  await storage.close()
}

/** The deploy went live or failed with a reason. */
async function requireEnd(t: TestContext, site: EngineSite, service: PausedService): Promise<void> {
  const { status, phase, error } = await finishedDeploy(site.holds.api, service.id)
  t.diagnostic(`${service.phase}: ${status}${phase ? ` in ${phase}` : ''}${error ? `, ${error}` : ''}`)
  assert.ok(status === 'live' || (status === 'failed' && error), `${service.phase}: ${status} ${error}`)
  await requireWhole(site, service, status === 'live')
}

/** Exactly the instances of the service's live deploy run. */
async function requireWhole(
  { holds: { api }, daemon }: EngineSite,
  service: PausedService,
  isLive: boolean,
): Promise<void> {
  const { id, name, next, former } = service
  const text = isLive ? next : former
  await until(`${name} to serve ${text}`, async () => (await fetchPage(api, name)).trim() === text)
  const { live_deploy_id } = await api.get(`/services/${name}`)
  await until(`the end of all other versions of ${name}`, async () => {
    const { containers, images } = await findLeftovers(daemon.prefix)
    const serviceContainers = containers.filter((container) => container.includes(`-${name}-`))
    const ofLive = await findObjectsOf(daemon.prefix, live_deploy_id)
    const hasImage = images.some((image) => image.includes(id))
    return serviceContainers.length === 1 && ofLive.includes(serviceContainers[0]!) && hasImage === isLive
  })
  service.former = text
}

/** Logs the duration of each part. */
function stopwatch(t: TestContext): (what: string) => void {
  let since = performance.now()
  return (what) => {
    t.diagnostic(`${what}: ${((performance.now() - since) / 1000).toFixed(1)} s`)
    since = performance.now()
  }
}

/** The daemon's own errors. */
function troubles(log: string[]): string[] {
  return log.filter((line) => /"level":"(error|fatal)"/.test(line))
}

if (isInside) inside()
else testInside('deploys survive faults of the engine', import.meta.url, await whyNoNamespace())
