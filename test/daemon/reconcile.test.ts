// Reconciling with the real engine: orphaned objects are removed, objects that are still needed stay.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { reconcile, removeNameless } from '../../src/daemon/reconcile.ts'
import {
  formerContainerName,
  imageName,
  labelFilter,
  ownerLabels,
  treeName,
} from '../../src/docker/engine/names.ts'
import { inspectImage, listImages, tagImage } from '../../src/docker/images/images.ts'
import type { Storage } from '../../storage/index.ts'
import { createIds } from '../../storage/store/ids.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { type DockerSite, openDockerSite } from '../support/docker/docker-site.ts'
import { serviceRow, transitionOf } from '../support/storage/store-fixtures.ts'
import { instant, silentLogger, temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import { long } from '../support/system/drill-size.ts'

const range = { first: '10.201.0.2', last: '10.201.0.254' }

const hostOf = ({ engine, owner, instances }: DockerSite, storage: Storage) => ({
  storage,
  instances,
  engine,
  owner,
  settings: { dataDir: storage.directory },
  logger: silentLogger,
})

/** All files of a deploy in the data directory. */
async function leaveTraces({ directory, addresses, releases, logs }: Storage, id: string): Promise<void> {
  const { id: _, name, live_deploy_id, desired_deploy_id, degraded, deleting, ...rest } = serviceRow()
  const { created_at, updated_at, revision, ...settings } = rest
  await addresses.allocate(id, 0, range)
  await releases.freeze(id, () => ({ settings, env: [], resolved: null }))
  logs.append(id, 'stdout', 'hello')
  await logs.end(id)
  mkdirSync(join(directory, 'work', id), { recursive: true })
}

async function findTraces({ directory, addresses, releases, logs }: Storage, id: string): Promise<string[]> {
  const isThere: Record<string, boolean> = {
    address: addresses.get(id, 0) !== null,
    release: releases.get(id) !== null,
    log: (await logs.ids()).includes(id),
    work: existsSync(join(directory, 'work', id)),
  }
  return Object.keys(isThere).filter((trace) => isThere[trace])
}

async function openServer(t: TestContext, directory = temporaryDirectory(t)) {
  const site = await openDockerSite(t)
  const storage = await temporaryStorage(t, directory)
  return { site, storage }
}

test('an active or parked deploy keeps all, an ended one its log, an unknown one nothing', async (t) => {
  const { site, storage } = await openServer(t)
  for (const id of ['dep-1', 'dep-2', 'dep-3']) {
    await storage.actors.create(transitionOf({ id, final: id === 'dep-2' }))
  }
  await storage.actors.park('dep-3', 'it kept failing', instant)
  for (const id of ['dep-1', 'dep-2', 'dep-3', 'dep-4']) await leaveTraces(storage, id)

  await reconcile(hostOf(site, storage))

  const everything = ['address', 'release', 'log', 'work']
  assert.deepEqual(await findTraces(storage, 'dep-1'), everything)
  assert.deepEqual(await findTraces(storage, 'dep-2'), ['log'], 'its image is gone, and the release with it')
  assert.deepEqual(await findTraces(storage, 'dep-3'), everything)
  assert.deepEqual(await findTraces(storage, 'dep-4'), [])
})

test('an instance is removed when its deploy has ended or is unknown, and not before', async (t) => {
  const { site, storage } = await openServer(t)
  await storage.actors.create(transitionOf({ id: 'dep-1' }))
  await storage.actors.create(transitionOf({ id: 'dep-2', final: true }))
  const names: Record<string, string> = {}
  for (const deployId of ['dep-1', 'dep-2', 'dep-3']) {
    names[deployId] = (await site.instances.ensure(await site.spec({ deployId }))).name
  }

  await reconcile(hostOf(site, storage))

  const left = await site.instances.list({})
  assert.deepEqual(
    left.map(({ name }) => name),
    [names['dep-1']],
  )
})

long('the intermediate image of a site is removed with its build, finished or not', async (t) => {
  const { site, storage } = await openServer(t)
  const ids = createIds()
  const [building, built, ended, unknown] = Array.from({ length: 4 }, () => ids.newId('dep'))
  for (const id of [building!, built!]) await storage.actors.create(transitionOf({ id }))
  await storage.actors.create(transitionOf({ id: ended!, final: true }))
  const trees = [building, built, ended, unknown].map((id) => treeName(site.owner, 'web', id!))
  const images = [built, ended].map((id) => imageName(site.owner, 'web', id!))
  for (const name of [...trees, ...images]) {
    await tagImage(site.engine, site.owner, site.images.busybox, name)
  }

  await reconcile(hostOf(site, storage))

  const left = (await listImages(site.engine, site.owner)).map(({ name }) => name)
  assert.deepEqual(left.sort(), [trees[0], ...images].sort())
})

long('former names are replaced while containers run, also after a kill in between', async (t) => {
  const { site, storage } = await openServer(t)
  const { engine, owner, instances, images } = site
  const ids = createIds()
  const [live, half, foreign] = [ids.newId('dep'), ids.newId('dep'), ids.newId('dep')]
  for (const id of [live, half]) await storage.actors.create(transitionOf({ id }))
  const spec = await site.spec({ deployId: live })
  const started = await instances.ensure(spec)
  const former = formerContainerName(owner, { serviceName: 'web', deployId: live, index: started.index })
  await engine.docker.getContainer(started.containerId).rename({ name: former })
  const tag = (name: string) => {
    const [repo = '', tag = ''] = name.split(':')
    return engine.docker.getImage(images.busybox).tag({ repo, tag })
  }
  // The daemon was killed after it gave the second image its new name, before the former one went.
  const kept = [`${owner.prefix}/web:latest`, `${owner.prefix}/web:${foreign}-aaaaaaaaaaaaaaaa`]
  for (const name of [live, half].map((id) => `${owner.prefix}/web:${id}`)) await tag(name)
  for (const name of [imageName(owner, 'web', half), ...kept]) await tag(name)
  await storage.commit(() => storage.formerNames.expect())

  await reconcile(hostOf(site, storage))

  const adopted = await instances.ensure(spec)
  const { containerId, startedAt, name } = started
  assert.deepEqual(
    [adopted.containerId, adopted.startedAt, adopted.name, storage.formerNames.areExpected()],
    [containerId, startedAt, name, false],
  )
  const left = (await findLeftovers(owner.prefix)).images
  assert.deepEqual(
    left,
    [live, half]
      .map((id) => imageName(owner, 'web', id))
      .concat(kept)
      .sort(),
  )
})

test('an image that lost its name in an interrupted removal is removed, and others stay', async (t) => {
  const { site, storage } = await openServer(t)
  const { engine, owner, images } = site
  const container = await engine.docker.createContainer({ Image: images.busybox, Cmd: ['true'] })
  t.after(() => container.remove())
  const nameless = async (serverId: string) => {
    const labels = labelFilter(ownerLabels({ ...owner, serverId }))
    const { Id } = await container.commit({ changes: labels.map((label) => `LABEL ${label}`) })
    return Id as string
  }
  const [ours, other] = [await nameless(owner.serverId), await nameless('another')]
  t.after(() => engine.docker.getImage(other).remove())

  await removeNameless(hostOf(site, storage))

  assert.equal(await inspectImage(engine, ours), null)
  assert.ok(await inspectImage(engine, other))
})
