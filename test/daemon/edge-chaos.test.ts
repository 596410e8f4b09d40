// Faults that end the edge, its container or its daemon: after each, all services respond within a minute, by
// one version each, and the records are correct.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createChance } from '../crash/random.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { finishedDeploy, until } from '../support/daemon/service.ts'
import { createService, type TestService } from '../support/daemon/suite.ts'
import { edgeApp } from '../support/edge/edge-app.ts'
import { findEdge, type MishapName, mishaps, requireWhole } from '../support/edge/edge-chaos.ts'
import { startLoad } from '../support/edge/edge-load.ts'
import { openEdgeSite } from '../support/edge/edge-site.ts'
import { requestSlowly } from '../support/edge/edge-streams.ts'
import { long } from '../support/system/drill-size.ts'

const names = Object.keys(mishaps) as MishapName[]
const seed = Number(process.env.BERTH_SEED ?? Math.floor(Math.random() * 2 ** 32))
const events = Number(process.env.BERTH_MISHAPS ?? 6)

/** Kills the edge instead of waiting 5 s, which is the stronger test. */
const odds = Object.fromEntries(
  names.map((name) => [name, name.includes('hangs') ? 0.5 : name.includes('daemon') ? 3 : 1]),
) as Record<MishapName, number>

const scope = fileScope()
const site = await openEdgeSite(scope)
const { daemon, placeOf } = site
const settings = { health_check_path: '/healthz', drain_seconds: 10 }
const [shop, wiki] = await Promise.all([
  createService(scope, daemon.api, await edgeApp('shop 1'), settings),
  createService(scope, daemon.api, await edgeApp('wiki 1'), { ...settings, drain_seconds: 1 }),
])
/** The expected response of each service. */
const wanted = new Map<TestService, string>([
  [shop, 'shop 1'],
  [wiki, 'wiki 1'],
])

/** Requests a deploy of another version, and returns its id. */
async function begin(service: TestService, text: string, ...wishes: string[]): Promise<string> {
  service.repository.commit(text, await edgeApp(text, ...wishes))
  return (await daemon.api.post(`/services/${service.name}/deploys`)).id
}

for (const name of names.filter((name) => !name.includes('daemon'))) {
  long(`${name}: all services respond again, and no instance was touched`, async () => {
    const before = await Promise.all([shop, wiki].map(site.containersOf))
    const edge = findEdge(daemon.dataDir)
    await mishaps[name](site)
    await requireWhole(site, wanted)
    assert.deepEqual(await Promise.all([shop, wiki].map(site.containersOf)), before)
    const isSame = findEdge(daemon.dataDir)?.master === edge?.master
    assert.equal(isSame, name.includes('hangs'))
  })
}

test('a daemon killed while it switches finishes the switch without a failed request', async (t) => {
  const load = startLoad(t, { ...placeOf(shop), inFlight: 5 })
  const edge = findEdge(daemon.dataDir)
  const id = await begin(shop, 'shop 2', 'verify=3000', 'abrupt=1')
  await until('the switch', async () => (await daemon.api.get(`/deploys/${id}`)).phase === 'switching')

  await daemon.kill()
  await load.round()
  await daemon.start()

  assert.equal((await finishedDeploy(daemon.api, id)).status, 'live')
  await requireWhole(site, wanted.set(shop, 'shop 2'))
  await load.stop()
  assert.deepEqual([load.failures, load.versionsSince(0)], [[], ['shop 1', 'shop 2']])
  assert.deepEqual(findEdge(daemon.dataDir), edge)
})

long('a daemon killed while a response is finishing lets it finish, then continues', async (t) => {
  const load = startLoad(t, { ...placeOf(shop), inFlight: 5 })
  const { answer } = await requestSlowly(t, placeOf(shop), 4_000)
  const { live_deploy_id: former } = await daemon.api.get(`/services/${shop.name}`)
  const id = await begin(shop, 'shop 3')
  assert.equal((await finishedDeploy(daemon.api, id)).status, 'live')
  await until('the drain', async () => (await daemon.api.get(`/deploys/${former}`)).status === 'deactivated')

  await daemon.kill()
  await daemon.start()

  assert.equal(await answer, 'shop 2 done')
  await requireWhole(site, wanted.set(shop, 'shop 3'))
  await load.stop()
  assert.deepEqual(load.failures, [])
})

long(`${events} faults in random order during deploys leave each service intact`, async (t) => {
  t.diagnostic(`BERTH_SEED=${seed}`)
  const chance = createChance(seed)
  for (let number = 1; number <= events; number++) {
    const name = chance.choose(odds)
    const service = chance.pick([shop, wiki])
    const text = `version ${number}`
    const id = await begin(service, text)
    const afterMs = chance.whole(0, 1500)
    await sleep(afterMs)
    await mishaps[name](site)
    const { status, error } = await finishedDeploy(daemon.api, id)
    t.diagnostic(`${service === shop ? 'shop' : 'wiki'}, ${afterMs} ms: ${name}: ${status} ${error ?? ''}`)
    if (status === 'live') wanted.set(service, text)
    else assert.ok(error, 'a failed deploy shows the reason')
    await requireWhole(site, wanted)
  }
})
