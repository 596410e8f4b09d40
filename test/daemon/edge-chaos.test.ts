// Faults that end or freeze the edge, its container, or the daemon in a switch: after each, all services
// respond within a minute, by one version each, and the records are correct.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileScope } from '../support/daemon/scope.ts'
import { finishedDeploy, until } from '../support/daemon/service.ts'
import { createService, type TestService } from '../support/daemon/suite.ts'
import { edgeApp } from '../support/edge/edge-app.ts'
import { findEdge, type MishapName, mishaps, requireWhole } from '../support/edge/edge-chaos.ts'
import { startLoad } from '../support/edge/edge-load.ts'
import { openEdgeSite } from '../support/edge/edge-site.ts'
import { long } from '../support/system/drill-size.ts'

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

for (const name of Object.keys(mishaps) as MishapName[]) {
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
