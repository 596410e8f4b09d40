// Why an image is needed, decided from real storage. The engine is a list of images.
import { deepEqual, equal } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { imageName, treeName } from '../../../src/docker/engine/names.ts'
import { removeOldImages } from '../../../src/effects/deploy/end/retention.ts'
import type { DeployPorts } from '../../../src/effects/deploy/ports.ts'
import { imagesInUse } from '../../../src/effects/engine/images-in-use.ts'
import { standIn } from '../../support/effects/stand-in.ts'
import { flipBit, serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import { instant, silentLogger, temporaryStorage } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'
import { testMac } from '../../support/system/test-mac.ts'

const owner = { prefix: 'berth', serverId: 'srv', mac: testMac }

async function openShop(t: TestContext, directory = temporaryDirectory(t)) {
  const storage = await temporaryStorage(t, directory)
  const { actors, ids, services } = storage
  if (!services.get('svc-1')) await storage.commit((commit) => services.insert(commit, serviceRow()))

  const nameOf = (id: string) => imageName(owner, 'shop', id)
  async function add(fields: { image?: unknown; source?: unknown } = {}, row = {}): Promise<string> {
    const id = ids.newId('dep')
    const transition = transitionOf({ id, final: true, ...row })
    await actors.create({ ...transition, record: { ...transition.record, image: null, ...fields } })
    return id
  }
  /** A finished deploy with its own image. */
  async function addBuilt(): Promise<string> {
    const id = await add()
    const transition = transitionOf({ id, final: true, revision: 2 }, { status: 'deactivated' })
    await actors.advance({ ...transition, record: { ...transition.record, image: nameOf(id) } })
    return id
  }
  async function addParked(fields: { image?: unknown; source?: unknown } = {}): Promise<string> {
    const id = await add(fields, { final: false })
    await actors.park(id, 'it kept failing', instant)
    return id
  }
  const image = (deployId: string, isTree = false) => ({
    name: isTree ? treeName(owner, 'shop', deployId) : nameOf(deployId),
    service: 'shop',
    deployId,
    isTree,
  })
  const needOf = (deployId: string, scope = {}) => imagesInUse({ owner, storage }, scope)(image(deployId))

  /** Runs the retention of the service over these images; returns those that it removed. */
  async function retain(deployIds: string[], keepImages: number): Promise<string[]> {
    const removed: string[] = []
    const docker = {
      listImages: async () => deployIds.map((id) => ({ RepoTags: [nameOf(id)], Created: 0, Size: 0 })),
      getImage: (name: string) => ({ remove: async () => void removed.push(name) }),
    }
    const engine = {
      docker,
      call: (_: string, work: (signal: AbortSignal) => Promise<unknown>) =>
        work(new AbortController().signal),
    }
    const settings = { keepImages }
    const ports = standIn<DeployPorts>({ engine, owner, storage, settings, logger: silentLogger })
    await removeOldImages(ports, 'svc-1')
    return removed
  }
  return { storage, add, addBuilt, addParked, image, nameOf, needOf, retain }
}

test('the image of a finished deploy is a version, and an unreferenced one is not needed', async (t) => {
  const { storage, add, addBuilt, needOf } = await openShop(t)
  equal(needOf(await addBuilt()), 'version')
  equal(needOf(await add()), null, 'its deploy was canceled before it was built')
  equal(needOf(storage.ids.newId('dep')), null)
})

test('an active deploy needs its image, the one it reruns and its rollback target', async (t) => {
  const { add, addBuilt, nameOf, needOf } = await openShop(t)
  const [rerun, target] = [await addBuilt(), await addBuilt()]
  const building = await add({}, { final: false })
  await add({ image: nameOf(rerun) }, { final: false })
  await add({ source: { kind: 'reuse', deploy_id: target } }, { final: false })

  deepEqual(
    [building, rerun, target].map((id) => needOf(id)),
    ['in-use', 'in-use', 'in-use'],
  )
  equal(needOf(building, { endingId: building }), null, 'a deploy that ends needs nothing')
})

test('an active run needs the image that was live when it started', async (t) => {
  const { storage, addBuilt, nameOf, needOf } = await openShop(t)
  const id = await addBuilt()
  const run = transitionOf({ id: storage.ids.newId('job'), kind: 'job-run' })
  await storage.actors.create({ ...run, record: { ...run.record, image: nameOf(id) } })
  equal(needOf(id), 'in-use')
})

test('the intermediate image of a site is needed only while its deploy builds', async (t) => {
  const { storage, add, image } = await openShop(t)
  const [building, ended] = [await add({}, { final: false }), await add()]
  const needOf = imagesInUse({ owner, storage })
  equal(needOf(image(building, true)), 'in-use')
  equal(needOf(image(building, true), new Set([image(building).name])), null)
  equal(needOf(image(ended, true)), null)
})

test('a parked deploy keeps its image and its target, regardless of retention', async (t) => {
  const { add, addBuilt, addParked, needOf, nameOf, retain } = await openShop(t)
  const [target, old] = [await addBuilt(), await addBuilt()]
  const building = await addParked()
  await addParked({ source: { kind: 'reuse', deploy_id: target } })
  const [stray, newest] = [await add(), await addBuilt()]

  deepEqual(
    [building, target].map((id) => needOf(id)),
    ['in-use', 'in-use'],
  )
  const removed = await retain([target, old, building, stray, newest], 1)
  deepEqual(removed.sort(), [nameOf(old), nameOf(stray)].sort())
})

test('a live image stays after its deploy was parked', async (t) => {
  const { storage, addBuilt, add, nameOf, retain } = await openShop(t)
  const built = await addBuilt()
  const live = await add({ image: nameOf(built) })
  await storage.services.update('svc-1', (row) => ({ ...row, live_deploy_id: live }))
  deepEqual(await retain([built, await addBuilt()], 1), [])
})

test('the image of a discarded deploy stays until an administrator removes it', async (t) => {
  const { storage, addParked, needOf, retain } = await openShop(t)
  const id = await addParked()
  await storage.actors.discard(id, { status: 'failed', at: instant, service: null })
  equal(needOf(id), 'left-behind')
  deepEqual(await retain([id], 1), [])
})

test('a deploy with a damaged row keeps its image', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await openShop(t, directory)
  const [stray, id] = [await first.add(), await first.add()]
  await first.storage.close()
  await flipBit(directory, 'actors', id)
  const { needOf, nameOf, retain } = await openShop(t, directory)

  equal(needOf(id), 'in-use')
  deepEqual(await retain([stray, id], 1), [nameOf(stray)])
})
