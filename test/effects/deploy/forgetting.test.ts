// The newest two hundred deploys of a service stay on record, and older ones that are still referenced.
import { deepEqual, equal } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { forgetOldDeploys, standardLimits } from '../../../src/daemon/record-retention.ts'
import { imageName } from '../../../src/docker/engine/names.ts'
import { serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../../support/supervisor/supervision.ts'
import { testMac } from '../../support/system/test-mac.ts'

const owner = { prefix: 'berth', serverId: 'srv', mac: testMac }

async function openShop(t: TestContext) {
  const storage = await temporaryStorage(t)
  await storage.commit((commit) => storage.services.insert(commit, serviceRow()))
  const { actors, ids, logs } = storage
  const imageOf = (id: string) => imageName(owner, 'shop', id)

  async function add(kind: 'deploy' | 'job-run', fields: object = {}, final = true): Promise<string> {
    const id = ids.newId(kind === 'deploy' ? 'dep' : 'job')
    const transition = transitionOf({ id, kind, final }, { status: final ? 'failed' : 'queued' })
    await actors.create({ ...transition, record: { ...transition.record, ...fields } })
    logs.append(id, 'system', 'a line')
    await logs.end(id)
    return id
  }
  /** A deploy whose image exists as long as its release. */
  async function addBuilt(): Promise<string> {
    const id = await add('deploy')
    const transition = transitionOf({ id, final: true, revision: 2 }, { status: 'deactivated' })
    await actors.advance({ ...transition, record: { ...transition.record, image: imageOf(id) } })
    await freeze(id)
    return id
  }
  const freeze = (id: string) =>
    storage.releases.freeze(id, () => ({ settings: serviceRow(), env: [], resolved: null }))
  const fill = async () => {
    for (let count = 0; count < standardLimits.keepDeploys; count++) await add('deploy')
  }
  return { storage, add, addBuilt, freeze, fill, imageOf }
}

test('older deploys are deleted with record, history, release and log; the newest stay', async (t) => {
  const { storage, add, freeze, fill } = await openShop(t)
  const old = [await add('deploy'), await add('deploy')]
  await freeze(old[0]!)
  await fill()

  await forgetOldDeploys(storage, owner)

  equal(storage.actors.ids('deploy', 'svc-1').length, standardLimits.keepDeploys)
  for (const id of old) {
    deepEqual([storage.actors.record(id), storage.actors.history(id)], [null, []])
    equal(storage.releases.has(id), false)
  }
  const logs = await storage.logs.ids()
  equal(logs.length, standardLimits.keepDeploys)
  deepEqual(
    logs.filter((id) => old.includes(id)),
    [],
  )
})

test('active, live, referenced deploys and rollback targets stay at any age', async (t) => {
  const { storage, add, addBuilt, fill, imageOf } = await openShop(t)
  const uploaded = await add('deploy')
  const target = await add('deploy')
  const ofRun = await add('deploy')
  const built = await addBuilt()
  const running = await add('deploy', {}, false)
  const shared = await add('deploy')
  const gone = await add('deploy', { image: imageOf('dep-removed') })
  await fill()
  await add('deploy', { source: { kind: 'reuse', deploy_id: target } }, false)
  await add('deploy', { image: imageOf(shared) }, false)
  await add('job-run', { deploy_id: ofRun }, false)
  await storage.services.update('svc-1', (row) => ({ ...row, archive_deploy_id: uploaded }))

  await forgetOldDeploys(storage, owner)

  const kept = [uploaded, target, ofRun, built, running, shared]
  deepEqual(
    kept.map((id) => storage.actors.record(id)?.id),
    kept,
  )
  equal(storage.actors.record(gone), null)
  equal(storage.releases.has(built), true)

  await storage.releases.remove(built)
  await forgetOldDeploys(storage, owner)
  equal(storage.actors.record(built), null)
})

test('each service has its own retention', async (t) => {
  const { storage, add, fill } = await openShop(t)
  const other = await add('deploy', {})
  await fill()
  await storage.commit((commit) => storage.services.insert(commit, serviceRow({ id: 'svc-2', name: 'blog' })))
  const elsewhere = storage.ids.newId('dep')
  await storage.actors.create(transitionOf({ id: elsewhere, service_id: 'svc-2', final: true }))

  await forgetOldDeploys(storage, owner)

  equal(storage.actors.record(other), null)
  equal(storage.actors.record(elsewhere)?.id, elsewhere)
})
