// The edge as a host process: it serves like the container, outlives the daemon, and yields to the container.
// The tests depend on each other and follow one daemon across restarts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { finishedDeploy, until } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { edgeApp } from '../support/edge/edge-app.ts'
import { findEdge } from '../support/edge/edge-chaos.ts'
import { startLoad } from '../support/edge/edge-load.ts'
import { openEdgeSite } from '../support/edge/edge-site.ts'
import { followEvents } from '../support/edge/edge-streams.ts'
import { long } from '../support/system/drill-size.ts'

const scope = fileScope()
const site = await openEdgeSite(scope, 'host')
const { page, placeOf, untilAnswers, untilDeactivated } = site
const { dataDir, prefix } = site.daemon
const service = await createService(scope, site.daemon.api, await edgeApp('one'), { drain_seconds: 5 })
/** The daemon's API changes its port at every start. */
async function deploy(text: string) {
  service.repository.commit(text, await edgeApp(text))
  const { id } = await site.daemon.api.post(`/services/${service.name}/deploys`)
  return finishedDeploy(site.daemon.api, id)
}

const untilEdge = (status: string) =>
  until(`an edge that is ${status}`, async () => {
    const edge = await site.daemon.api.get('/edge')
    return edge.status === status && edge
  })
const edgeContainers = async () =>
  (await findLeftovers(prefix)).containers.filter((name) => name === `${prefix}-edge`)

test('a service is served by a host process, and deployed without a failed request', async (t) => {
  const load = startLoad(t, { ...placeOf(service), inFlight: 5 })
  await load.round()
  const two = await deploy('two')
  assert.equal(two.status, 'live')
  await untilDeactivated(service.first.id)
  const since = Date.now()
  await load.round()
  await load.stop()
  assert.deepEqual([load.failures, load.versionsSince(since)], [[], ['two']])
  assert.deepEqual(await edgeContainers(), [])
  const edge = await site.daemon.api.get('/edge')
  assert.deepEqual([edge.status, edge.mode, edge.error], ['serving', 'host', null])
})

long('after a kill the daemon reuses the running process', async (t) => {
  const stream = await followEvents(t, placeOf(service))
  const before = findEdge(dataDir)
  await site.daemon.kill()
  assert.equal((await page(service)).body, 'two')
  await site.daemon.start()
  await untilEdge('serving')
  await deploy('three')
  await untilAnswers(service, 'three')
  assert.deepEqual(findEdge(dataDir), before)
  await stream.ended()
  assert.equal(stream.ending, 'goodbye', 'the drain of its version ended it, not the daemon')
})

long('the container takes over from the process, and the process from the container', async () => {
  const before = findEdge(dataDir)!.master
  await site.startWith('--edge=container')
  await untilEdge('serving')
  await untilAnswers(service, 'three')
  assert.deepEqual(await edgeContainers(), [`${prefix}-edge`])
  assert.notEqual(findEdge(dataDir)!.master, before)
  await site.startWith('--edge=host')
  await untilEdge('serving')
  await untilAnswers(service, 'three')
  assert.deepEqual(await edgeContainers(), [])
})

long('a disabled edge is stopped', async () => {
  assert.ok(findEdge(dataDir))
  await site.startWith('--edge=off')
  await untilEdge('off')
  await until('the end of HAProxy', async () => findEdge(dataDir) === null)
  const { url, hosts, state } = await site.daemon.api.get(`/services/${service.name}`)
  assert.deepEqual([url, hosts, state], [null, [], 'live'])
  await assert.rejects(page(service), /ECONNREFUSED/)
})
