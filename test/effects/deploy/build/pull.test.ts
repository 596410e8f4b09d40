// A pull that is repeated after a crash: an unfinished pull is undone, a finished one is adopted.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { DeploySource } from '../../../../machines/deploy/deploy-context.ts'
import { imageName } from '../../../../src/docker/engine/names.ts'
import { inspectImage, tagImage } from '../../../../src/docker/images/images.ts'
import { pullImage as pullFromRegistry } from '../../../../src/docker/images/pull.ts'
import {
  dropPulledName,
  pullImage,
  readPullNote,
  removePulledNameOnly,
  writePullNote,
} from '../../../../src/effects/deploy/build/pull.ts'
import { DeployPhase } from '../../../../src/effects/deploy/phase.ts'
import type { DeployPorts } from '../../../../src/effects/deploy/ports.ts'
import { removeWork } from '../../../../src/effects/deploy/source/source.ts'
import { createIds } from '../../../../storage/store/ids.ts'
import { openDockerSite } from '../../../support/docker/docker-site.ts'
import { startRegistry } from '../../../support/docker/registry.ts'
import { standIn } from '../../../support/effects/stand-in.ts'
import { deployInput } from '../../../support/machines/deploy-chart.ts'
import { serviceRow } from '../../../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../../../support/supervisor/supervision.ts'
import { long } from '../../../support/system/drill-size.ts'
import { fillDisk, smallDisk } from '../../../support/system/small-disk.ts'

const neverAborted = new AbortController().signal

/** Only root may mount a small disk. */
const skip = process.getuid?.() === 0 ? false : 'needs root'

/** A server with one deploy of an image that is in a registry, in the middle of its pull. */
async function openPull(t: TestContext, dataDir?: string) {
  const { engine, owner } = await openDockerSite(t)
  const storage = await temporaryStorage(t)
  await storage.services.create(serviceRow({ name: 'web' }))
  const registry = await startRegistry(t)
  const digest = await registry.push('app:v1', 'one')
  const id = createIds().newId('dep')
  const engineReady = async () => ({ name: 'berth', range: { first: '10.201.0.2', last: '10.201.0.9' } })
  const settings = { dataDir: dataDir ?? storage.directory, minFreeDiskMb: 0 }
  const ports = standIn<DeployPorts>({
    storage,
    engine,
    owner,
    settings,
    engineReady,
    startedAt: '',
  })
  const image = `${registry.host}/app:v1`
  const source: DeploySource = { ...deployInput().source, kind: 'image', image }
  const phase = new DeployPhase(ports, { id, serviceId: 'svc-1' }, neverAborted)
  return {
    ports,
    engine,
    owner,
    registry,
    digest,
    id,
    image,
    name: `${registry.host}/app@${digest}`,
    exact: `${image}@${digest}`,
    ours: imageName(owner, 'web', id),
    phase,
    run: () => pullImage(phase, { source }),
    pull: (reference: string) =>
      pullFromRegistry(engine, { reference, credentials: null, onLine: () => {}, signal: neverAborted }),
  }
}

test('an image tagged by an earlier daemon is adopted, and loses its other name', async (t) => {
  const { ports, engine, owner, registry, id, name, exact, ours, run, pull } = await openPull(t)
  await writePullNote(ports, id, { reference: exact, pulledName: name })
  const { imageId } = await pull(name)
  await tagImage(engine, owner, name, ours)
  await registry.stop()

  const { image, source } = await run()

  assert.deepEqual([image, source.image], [ours, exact])
  assert.equal((await inspectImage(engine, ours))?.id, imageId)
  assert.deepEqual(await registry.namesOnEngine(), [])
})

test('an image that an earlier daemon pulled but did not tag is pulled again', async (t) => {
  const { ports, engine, registry, digest, id, name, exact, image, ours, run, pull } = await openPull(t)
  await writePullNote(ports, id, { reference: exact, pulledName: name })
  await pull(name)
  const moved = await registry.push('app:v1', 'two')

  const { source } = await run()

  assert.notEqual(moved, digest)
  assert.equal(source.image, `${image}@${moved}`)
  assert.ok(await inspectImage(engine, ours))
  assert.deepEqual(await registry.namesOnEngine(), [])
})

test('an image with our name but without a note is not trusted: the tag is resolved', async (t) => {
  const { engine, owner, registry, name, exact, ours, run, pull } = await openPull(t)
  const old = await registry.push('app:v0', 'zero')
  await pull(`${registry.host}/app@${old}`)
  await tagImage(engine, owner, `${registry.host}/app@${old}`, ours)

  const { source } = await run()

  assert.equal(source.image, exact)
  const { imageId } = await pull(name)
  assert.equal((await inspectImage(engine, ours))?.id, imageId)
})

test('a name that was removed once is left alone when someone else uses it again', async (t) => {
  const { ports, registry, id, name, phase, run, pull } = await openPull(t)
  await run()
  assert.deepEqual(await readPullNote(ports, id).then((note) => note?.pulledName), null)
  await pull(name)

  await dropPulledName(phase)

  assert.deepEqual(await registry.namesOnEngine(), [name])
})

test('a name that existed before the pull stays', async (t) => {
  const { registry, name, exact, run, pull } = await openPull(t)
  await pull(name)

  const { source } = await run()

  assert.equal(source.image, exact)
  assert.deepEqual(await registry.namesOnEngine(), [name])
})

long('a full disk does not prevent a cleanup from removing the name', { skip }, async (t) => {
  const disk = smallDisk(t, 1)
  const { ports, registry, id, name, exact, phase, pull } = await openPull(t, disk)
  await writePullNote(ports, id, { reference: exact, pulledName: name })
  await pull(name)
  fillDisk(disk)

  await removePulledNameOnly(phase)
  await removeWork(ports, id)

  assert.deepEqual(await registry.namesOnEngine(), [])
  assert.equal(await readPullNote(ports, id), null)
})
