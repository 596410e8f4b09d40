// Services through the edge: reachable by name from the first deploy, and without failed requests
// during every operation.
// A neighbour has a stream open during the whole file, which no operation on other services may break.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Body } from '../support/daemon/api.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { finishedDeploy, logLines, until } from '../support/daemon/service.ts'
import { createService, type TestService } from '../support/daemon/suite.ts'
import { edgeApp } from '../support/edge/edge-app.ts'
import { startLoad } from '../support/edge/edge-load.ts'
import { openEdgeSite } from '../support/edge/edge-site.ts'
import { followEvents, requestSlowly } from '../support/edge/edge-streams.ts'
import { long } from '../support/system/drill-size.ts'

const scope = fileScope()
const site = await openEdgeSite(scope)
const { ask, containersOf, page, placeOf, untilAnswers, untilDeactivated } = site
const { api } = site.daemon
const checked = { health_check_path: '/healthz', drain_seconds: 5 }
const [first, shop] = await Promise.all([
  createService(scope, api, await edgeApp('neighbour')),
  createService(scope, api, await edgeApp('one'), checked),
])
const neighbour = await followEvents(scope, placeOf(first))

/** The service's number of instances, and the number of all services' ready upstreams. */
async function counts(service: TestService): Promise<{ instances: number; ready: number }> {
  const { length } = await containersOf(service)
  return { instances: length, ready: (await api.get('/edge')).routes.ready }
}

const untilCounts = (wanted: { instances: number; ready: number }) =>
  until(`${JSON.stringify(wanted)}`, async () => isDeepStrictEqual(await counts(shop), wanted))

test('a deploy is served at the name of its service, which shows its address', async () => {
  const { status, body, headers } = await page(shop)
  assert.deepEqual([status, body, headers['x-version']], [200, 'one', 'one'])
  const { url, hosts } = await api.get(`/services/${shop.name}`)
  assert.deepEqual([url, hosts], [`http://${placeOf(shop).host}:${site.port}`, [placeOf(shop).host]])
  const lines = await logLines(api, shop.first.id)
  assert.ok(lines.includes(`a request through the edge reached the instance: it answered 200, ${url}`))
  const strange = await ask('nobody.localhost')
  assert.equal(strange.status, 404)
  assert.match(strange.body, /No such site/)
})

test('before its first deploy a service responds that it is not ready, with Retry-After', async (t) => {
  const service = await createService(t, api, await edgeApp('late'), { deploy: false })
  const waiting = await until('a page', async () => {
    const response = await page(service)
    return response.status !== 404 && response
  })
  assert.deepEqual([waiting.status, waiting.headers['retry-after']], [503, '5'])
  await finishedDeploy(api, (await service.request()).id)
  assert.equal((await page(service)).body, 'late')
})

test('deploys and a rollback fail no request under load, and no version serves after its end', async (t) => {
  const load = startLoad(t, placeOf(shop))
  await load.round()
  const two = await shop.deploy(await edgeApp('two'))
  await untilDeactivated(shop.first.id)
  const endOfOne = Date.now()
  await load.round()
  assert.deepEqual(load.versionsSince(endOfOne), ['two'])

  const back = await api.post(`/services/${shop.name}/rollback`, { deploy_id: shop.first.id })
  assert.equal((await finishedDeploy(api, back.id)).status, 'live')
  await untilDeactivated(two.id)
  const endOfTwo = Date.now()
  await until('two thousand answers', async () => load.answers.length >= 2_000)
  await load.round()
  await load.stop()

  assert.deepEqual(load.failures, [])
  assert.deepEqual(load.versionsSince(endOfTwo), ['one'])
  t.diagnostic(`${load.answers.length} requests`)
})

long('a service scales to three and back to one under load without a failed request', async (t) => {
  const load = startLoad(t, placeOf(shop))
  const { ready } = await counts(shop)
  await api.post(`/services/${shop.name}/scale`, { instances: 3 })
  await untilCounts({ instances: 3, ready: ready + 2 })
  await load.round()
  await api.post(`/services/${shop.name}/scale`, { instances: 1 })
  await untilCounts({ instances: 1, ready })
  await load.round()
  await load.stop()
  assert.deepEqual(load.failures, [])
})

long('a suspended service responds so, finishes open requests, and is back when resumed', async (t) => {
  const slow = await requestSlowly(t, placeOf(shop), 2_000)
  await api.post(`/services/${shop.name}/suspend`)
  const paused = await until('its page', async () => {
    const response = await page(shop)
    return response.status !== 200 && response
  })
  assert.deepEqual([paused.status, paused.headers['retry-after']], [503, '60'])
  assert.match(paused.body, /suspended/)
  assert.equal(await slow.answer, 'one done')
  await until('its end', async () => (await counts(shop)).instances === 0)

  await api.post(`/services/${shop.name}/resume`)
  await untilAnswers(shop, 'one')
})

test('a domain routes to its service immediately, and stops when it is removed', async (t) => {
  const load = startLoad(t, { ...placeOf(shop), inFlight: 4 })
  const slow = await requestSlowly(t, placeOf(shop), 1_000)
  const domain = 'shop.example.com'
  assert.equal((await api.call('POST', `/services/${shop.name}/domains`, { domain })).status, 201)
  await until('the domain', async () => (await ask(domain)).body === 'one')
  assert.deepEqual((await api.get(`/services/${shop.name}`)).hosts, [placeOf(shop).host, domain])
  await api.call('DELETE', `/services/${shop.name}/domains/${domain}`)
  await until('its end', async () => (await ask(domain)).status === 404)
  assert.equal(await slow.answer, 'one done')
  await load.stop()
  assert.deepEqual(load.failures, [])
})

test('a private service has no public address', async (t) => {
  const service = await createService(t, api, await edgeApp('inside'), { type: 'private_service' })
  const { url, hosts, state } = await api.get(`/services/${service.name}`)
  assert.deepEqual([url, hosts, state], [null, [], 'live'])
  assert.equal((await page(service)).status, 404)
})

test('the edge reports that it serves, and how it was started', async () => {
  const edge = await api.get('/edge')
  assert.deepEqual(
    [edge.status, edge.mode, edge.http_port, edge.error],
    ['serving', 'container', site.port, null],
  )
  const history: Body[] = await api.get('/edge/history')
  const states = history.map(({ state }) => state).filter((state, at, all) => state !== all[at - 1])
  assert.deepEqual(states, ['starting', 'serving'])
  assert.ok(neighbour.said.length > 20 && neighbour.ending === null, 'the stream of the neighbour lives')
})
