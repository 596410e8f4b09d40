// Docker is stopped, killed and started: services respond again within a minute, by one version each, and an
// active deploy ends. Uses a private engine in a namespace.
// An orderly stop of Docker ends all containers, so nothing responds until it is back.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileScope } from '../support/daemon/scope.ts'
import { finishedDeploy, pageApp, until } from '../support/daemon/service.ts'
import { createService, type TestService } from '../support/daemon/suite.ts'
import { ensureEngine } from '../support/docker/engine.ts'
import { baseImages } from '../support/docker/images.ts'
import {
  loadImage,
  type NamespaceEngine,
  saveImage,
  startNamespaceEngine,
} from '../support/docker/namespace-engine.ts'
import { haproxyImage } from '../support/docker/server-images.ts'
import { findEdge, requireWhole } from '../support/edge/edge-chaos.ts'
import { type EdgeSite, openEdgeSite } from '../support/edge/edge-site.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import { isInside, openNetwork, runInside, whyNoNamespace } from '../support/system/namespace.ts'

const scope = fileScope()

function outside(impossible: string | null): void {
  test('services survive what happens to Docker', { skip: impossible ?? false }, async (t) => {
    const directory = temporaryDirectory(scope)
    const address = await ensureEngine()
    const edge = await haproxyImage()
    for (const [name, image] of Object.entries({ ...(await baseImages()), edge }))
      await saveImage(address, image, join(directory, `${name}.tar`))
    const { code, lines } = await runInside(import.meta.url, { PREPARED: directory, EDGE_IMAGE: edge })
    for (const line of lines.filter((line) => /^ *(not )?ok |^ *# /.test(line))) t.diagnostic(line)
    assert.equal(code, 0, lines.join('\n'))
  })
}

interface Held {
  engine: NamespaceEngine
  site: EdgeSite
  shop: TestService
}

async function open(prepared: string): Promise<Held> {
  await openNetwork('10.99.0.1')
  const engine = await startNamespaceEngine(join(prepared, 'engine'))
  scope.after(() => engine.stop())
  process.env.DOCKER_HOST = engine.address
  for (const file of readdirSync(prepared).filter((name) => name.endsWith('.tar')))
    await loadImage(engine.address, join(prepared, file))
  const site = await openEdgeSite(scope, 'host', [`--edge-image=${process.env.EDGE_IMAGE}`])
  const settings = { health_check_path: '/healthz', drain_seconds: 1 }
  const shop = await createService(scope, site.daemon.api, await pageApp('shop'), settings)
  return { engine, site, shop }
}

async function inside(): Promise<void> {
  const { engine, site, shop } = await open(process.env.PREPARED!)
  const wanted = new Map([[shop, 'shop']])
  await requireWhole(site, wanted)

  test('an edge on the host runs while Docker is stopped, and serves when it is back', async () => {
    const edge = findEdge(site.daemon.dataDir)
    await engine.stop()
    assert.equal((await site.page(shop)).status, 503)
    await engine.start()
    await requireWhole(site, wanted)
    assert.deepEqual(findEdge(site.daemon.dataDir), edge)
  })

  test('an edge on the host keeps serving while Docker is killed and started', async () => {
    const edge = findEdge(site.daemon.dataDir)
    await engine.kill()
    await engine.start()
    await requireWhole(site, wanted)
    assert.deepEqual(findEdge(site.daemon.dataDir), edge)
  })

  test('a deploy during which Docker is stopped finishes', async () => {
    shop.repository.commit('Next', await pageApp('next'))
    const { id } = await site.daemon.api.post(`/services/${shop.name}/deploys`)
    await until('it to run', async () => (await site.daemon.api.get(`/deploys/${id}`)).phase !== null)
    await engine.stop()
    await engine.start()
    const { status, error } = await finishedDeploy(site.daemon.api, id)
    assert.ok(status === 'live' || error, `it is ${status}: ${error}`)
    await requireWhole(site, wanted.set(shop, status === 'live' ? 'next' : 'shop'))
  })

  test('the edge container is back with Docker, and with its daemon when both were down', async () => {
    await site.startWith('--edge=container')
    await requireWhole(site, wanted)
    await engine.stop()
    await engine.start()
    await requireWhole(site, wanted)
    await site.daemon.kill()
    await engine.kill()
    await engine.start()
    await site.daemon.start()
    await requireWhole(site, wanted)
  })
}

if (isInside) await inside()
else outside(await whyNoNamespace())
