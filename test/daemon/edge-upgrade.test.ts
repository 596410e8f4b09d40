// A newer HAProxy replaces the running one: no request fails, open connections continue, and after any
// failure exactly one edge serves.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Body } from '../support/daemon/api.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { finishedDeploy, until } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { baseImages } from '../support/docker/images.ts'
import { haproxyImage } from '../support/docker/server-images.ts'
import { edgeApp } from '../support/edge/edge-app.ts'
import { startLoad } from '../support/edge/edge-load.ts'
import { type EdgeSite, openDocker, openEdgeSite } from '../support/edge/edge-site.ts'
import { followEvents, followSocket } from '../support/edge/edge-streams.ts'
import { long, sized } from '../support/system/drill-size.ts'

const times = sized(1, 3)
const scope = fileScope()

/** The same HAProxy as an image with another id. */
async function otherImage(t: TestContext, name: string): Promise<string> {
  const docker = await openDocker()
  const container = await docker.createContainer({ Image: await haproxyImage(), Cmd: ['-v'] })
  const repo = `localhost/${name}`
  await container.commit({ repo, tag: 'patched', changes: 'LABEL test=patched' })
  await container.remove()
  t.after(() => docker.getImage(`${repo}:patched`).remove({ force: true }))
  return `${repo}:patched`
}

async function upgrade({ daemon }: EdgeSite): Promise<Body> {
  const before = await daemon.api.get('/edge')
  await daemon.api.post('/edge/upgrade', { force: true })
  return until('the upgrade to end', async () => {
    const edge = await daemon.api.get('/edge')
    return edge.status === 'serving' && edge.upgraded_at !== before.upgraded_at && edge
  })
}

async function edgeContainers({ prefix }: EdgeSite): Promise<string[]> {
  const filters = { label: [`berth.instance=${prefix}`, 'berth.kind=edge'] }
  const containers = await (await openDocker()).listContainers({ all: true, filters })
  return containers.map(({ Names }) => Names[0]!.slice(1)).sort()
}

const untilOneEdge = (site: EdgeSite) =>
  until('one edge', async () => {
    const { status, error } = await site.daemon.api.get('/edge')
    return status === 'serving' && error === null && (await edgeContainers(site)).length === 1
  })

for (const kind of ['container', 'host'] as const) {
  const testKind = kind === 'container' ? test : long
  testKind(`upgrades under load fail no request and cut no connection (${kind})`, async (t: TestContext) => {
    const site = await openEdgeSite(scope, kind)
    const service = await createService(scope, site.daemon.api, await edgeApp('one'), { drain_seconds: 2 })
    const instance = site.placeOf(service)
    await site.untilAnswers(service, 'one')
    const [events, socket] = [await followEvents(t, instance), await followSocket(t, instance)]
    const load = startLoad(t, { ...instance, inFlight: 10 })
    for (let count = 0; count < times; count++) {
      await load.round()
      await upgrade(site)
    }
    await load.round()
    await events.more(2)
    const isOpen = [events.ending, socket.ending]
    // Clients that are connected to an older edge are served by the new version, too.
    service.repository.commit('two', await edgeApp('two'))
    const { id } = await site.daemon.api.post(`/services/${service.name}/deploys`)
    const deploy = await finishedDeploy(site.daemon.api, id)
    await site.untilDeactivated(service.first.id)
    const since = Date.now()
    await load.round()
    await load.stop()
    t.diagnostic(`${times} upgrades, ${load.answers.length} requests, ${load.failures.length} failed`)

    assert.deepEqual(load.failures, [])
    assert.deepEqual([isOpen, deploy.status, load.versionsSince(since)], [[null, null], 'live', ['two']])
    await Promise.all([events.ended(), socket.ended()])
    assert.deepEqual([events.ending, socket.ending], ['goodbye', 'goodbye'])
    if (kind === 'container') await untilOneEdge(site)
  })
}

test('a daemon killed during an upgrade leaves one edge, and no request fails', async (t) => {
  const site = await openEdgeSite(scope)
  const service = await createService(scope, site.daemon.api, await edgeApp('one'), { drain_seconds: 2 })
  await site.untilAnswers(service, 'one')
  const load = startLoad(t, { ...site.placeOf(service), inFlight: 10 })
  for (let count = 0; count < times; count++) {
    await load.round()
    await site.daemon.api.post('/edge/upgrade', { force: true })
    await sleep(((count + 1) * 1500) / (times + 1))
    await site.daemon.kill()
    await load.round()
    await site.daemon.start()
    await untilOneEdge(site)
  }
  service.repository.commit('two', await edgeApp('two'))
  const { id } = await site.daemon.api.post(`/services/${service.name}/deploys`)
  assert.equal((await finishedDeploy(site.daemon.api, id)).status, 'live')
  await site.untilDeactivated(service.first.id)
  const since = Date.now()
  await load.round()
  await load.stop()
  assert.deepEqual([load.failures, load.versionsSince(since)], [[], ['two']])
})

long('a start with another image upgrades to it; an image that does not start changes nothing', async (t) => {
  const site = await openEdgeSite(scope)
  const service = await createService(scope, site.daemon.api, await edgeApp('one'))
  await site.untilAnswers(service, 'one')
  const load = startLoad(t, { ...site.placeOf(service), inFlight: 5 })
  const first = await until('its software', async () => {
    const edge = await site.daemon.api.get('/edge')
    return edge.version && edge
  })
  assert.match(first.version, /^\d+\.\d+\.\d+/)
  assert.deepEqual([first.available, first.upgrade_error, first.upgraded_at], [null, null, null])

  const image = await otherImage(t, site.prefix)
  await site.startWith(`--edge-image=${image}`)
  const patched = await until('the patched image', async () => {
    const edge = await site.daemon.api.get('/edge')
    return edge.image === image && edge.status === 'serving' && edge
  })
  assert.deepEqual([patched.available, patched.upgrade_error], [null, null])
  assert.ok(patched.upgraded_at)
  await untilOneEdge(site)

  const { node } = await baseImages()
  await site.startWith(`--edge-image=${node}`)
  const broken = await until('the failure', async () => {
    const edge = await site.daemon.api.get('/edge')
    return edge.upgrade_error && edge.status === 'serving' && edge.available && edge
  })
  assert.match(broken.upgrade_error, /the new edge does not start.*haproxy/)
  assert.deepEqual([broken.image, broken.available.image, broken.error], [image, node, null])
  await untilOneEdge(site)
  const token = readFileSync(join(site.daemon.dataDir, 'api_token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}` }
  const metrics = await fetch(`${new URL(site.daemon.api.url).origin}/metrics`, { headers })
  assert.match(await metrics.text(), /^berth_edge_outdated\{version="\d[^"]*"\} 1$/m)
  await load.round()
  await load.stop()
  assert.deepEqual(load.failures, [])
})
