// The names that a pull leaves on the engine, also when it is repeated after a crash.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { DeploySource } from '../../../../machines/deploy/deploy-context.ts'
import { imageName } from '../../../../src/docker/engine/names.ts'
import { inspectImage, tagImage } from '../../../../src/docker/images/images.ts'
import { pullImage as pullFromRegistry } from '../../../../src/docker/images/pull.ts'
import { pullImage } from '../../../../src/effects/deploy/build/pull.ts'
import { DeployPhase } from '../../../../src/effects/deploy/phase.ts'
import type { DeployPorts } from '../../../../src/effects/deploy/ports.ts'
import { resolveEnvironment } from '../../../../src/effects/deploy/start/instances.ts'
import { createIds } from '../../../../storage/store/ids.ts'
import { openDockerSite } from '../../../support/docker/docker-site.ts'
import { startRegistry } from '../../../support/docker/registry.ts'
import { standIn } from '../../../support/effects/stand-in.ts'
import { deployInput } from '../../../support/machines/deploy-chart.ts'
import { serviceRow, transitionOf } from '../../../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../../../support/supervisor/supervision.ts'

const neverAborted = new AbortController().signal

/** A server with one deploy of an image that is in a registry, in the middle of its pull. */
async function openPull(t: TestContext) {
  const { engine, owner } = await openDockerSite(t)
  const storage = await temporaryStorage(t)
  await storage.services.create(serviceRow({ name: 'web' }))
  const registry = await startRegistry(t)
  const digest = await registry.push('app:v1', 'one')
  const id = createIds().newId('dep')
  const engineReady = async () => ({ name: 'berth', range: { first: '10.201.0.2', last: '10.201.0.9' } })
  const edge = { mode: 'off', httpPort: 80, httpsPort: 443, dashboardHost: null } as const
  const publication = { baseDomain: 'localhost', edge, hasCertificate: () => false }
  const settings = { dataDir: storage.directory, minFreeDiskMb: 0 }
  const ports = standIn<DeployPorts>({
    storage,
    engine,
    owner,
    settings,
    engineReady,
    publication,
    startedAt: '',
  })
  const ours = imageName(owner, 'web', id)
  const image = `${registry.host}/app:v1`
  const source: DeploySource = { ...deployInput().source, kind: 'image', image }
  const phase = new DeployPhase(ports, { id, serviceId: 'svc-1' }, neverAborted)
  return {
    engine,
    owner,
    registry,
    digest,
    image,
    name: `${registry.host}/app@${digest}`,
    exact: `${image}@${digest}`,
    ours,
    restart: () => Object.defineProperty(phase, 'isRepeated', { value: true }),
    run: () => pullImage(phase, { source }),
    async startWith(pulled: DeploySource) {
      const { record, ...transition } = transitionOf({ id })
      await storage.actors.create({ ...transition, record: { ...record, source: pulled } })
      const settings = serviceRow({ name: 'web' })
      await storage.releases.freeze(id, () => ({ settings, env: [], resolved: null }))
      await resolveEnvironment(phase, { image: ours, commitSha: null })
    },
    pull: (reference: string) =>
      pullFromRegistry(engine, { reference, credentials: null, onLine: () => {}, signal: neverAborted }),
  }
}

test('an image that an earlier daemon pulled but did not tag is pulled again', async (t) => {
  const { registry, digest, name, image, run, pull, restart } = await openPull(t)
  await pull(name)
  restart()

  const { source } = await run()

  assert.equal(source.image, `${image}@${digest}`)
  assert.deepEqual(await registry.namesOnEngine(), [])
})

test('an image with our name is not trusted: the tag is resolved', async (t) => {
  const { engine, owner, registry, name, exact, ours, run, pull } = await openPull(t)
  const old = await registry.push('app:v0', 'zero')
  await pull(`${registry.host}/app@${old}`)
  await tagImage(engine, owner, `${registry.host}/app@${old}`, ours)

  const { source } = await run()

  assert.equal(source.image, exact)
  const { imageId } = await pull(name)
  assert.equal((await inspectImage(engine, ours))?.id, imageId)
})

test('a pull leaves only the name of the deploy', async (t) => {
  const { engine, registry, ours, run } = await openPull(t)
  await run()
  assert.ok(await inspectImage(engine, ours))
  assert.deepEqual(await registry.namesOnEngine(), [])
})

test('a name that existed before the pull stays', async (t) => {
  const { registry, name, exact, run, pull } = await openPull(t)
  await pull(name)

  const { source } = await run()

  assert.equal(source.image, exact)
  assert.deepEqual(await registry.namesOnEngine(), [name])
})

test('an image that another removal takes away after the pull is pulled again', async (t) => {
  const { engine, ours, exact, run, startWith } = await openPull(t)
  const { source } = await run()
  assert.equal(source.image, exact)
  await engine.docker.getImage(ours).remove({ force: true })

  await startWith(source)

  assert.ok(await inspectImage(engine, ours))
})
