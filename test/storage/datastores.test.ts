// Stored data of datastores: names shared with services, sealed passwords, and exclusive ports.
import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { serviceRow } from '../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const password = 'canary-4f0d9a61b7'

async function open(t: Parameters<typeof temporaryStorage>[0], directory?: string) {
  const storage = await temporaryStorage(t, directory)
  const insert = (id: string, name: string) =>
    storage.commit(() => storage.datastores.insert(id, name, password))
  return { storage, datastores: storage.datastores, insert }
}

test('a datastore is found by its id and by its name, also after a restart', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await open(t, directory)
  await first.insert('dst-1', 'shop-db')
  await first.storage.close()

  const { datastores } = await open(t, directory)

  deepEqual(
    ['dst-1', 'shop-db', 'other'].map((one) => datastores.idOf(one)),
    ['dst-1', 'dst-1', null],
  )
  deepEqual([datastores.isFree('shop-db'), datastores.isFree('other')], [false, true])
  deepEqual(datastores.list(), [{ id: 'dst-1', name: 'shop-db', port: null, shared_network: false }])
})

test('services and datastores share one namespace, in both directions', async (t) => {
  const { storage, insert } = await open(t)
  await insert('dst-1', 'both')
  await storage.services.create(serviceRow({ id: 'svc-1', name: 'web' }))

  await rejects(insert('dst-2', 'web'), { code: 'name_taken' })
  await rejects(storage.services.create(serviceRow({ id: 'svc-2', name: 'both' })), { code: 'name_taken' })

  equal(storage.datastores.idOf('web'), null)
  equal(storage.services.get('both'), null)
})

test('a deletion removes the name and the password', async (t) => {
  const { insert, datastores } = await open(t)
  await insert('dst-1', 'shop-db')
  equal(datastores.password('dst-1'), password)

  await datastores.remove('dst-1')
  await datastores.remove('dst-1')

  throws(() => datastores.password('dst-1'), { code: 'not_found' })
  deepEqual([datastores.idOf('shop-db'), datastores.isFree('shop-db')], [null, true])
})

test('a port belongs to one datastore until it is changed or released', async (t) => {
  const { insert, datastores } = await open(t)
  await insert('dst-1', 'one')
  await insert('dst-2', 'two')

  deepEqual(
    await Promise.all(['dst-1', 'dst-2'].map((id) => datastores.movePort(id, [25_000, 25_001]))),
    [25_000, 25_001],
  )
  equal(await datastores.movePort('dst-2', [25_000]), null)
  equal(datastores.port('dst-2'), 25_001)
  equal(await datastores.movePort('dst-1', [25_002]), 25_002)
  equal(await datastores.movePort('dst-2', [25_000]), 25_000)

  await datastores.remove('dst-1')
  equal(await datastores.movePort('dst-2', [25_002]), 25_002)
  await rejects(datastores.movePort('dst-1', [25_003]), { code: 'not_found' })
})

test('a datastore restored from the trash keeps its access from other services', async (t) => {
  const { storage, datastores, insert } = await open(t)
  await insert('dst-1', 'closed-db')
  await storage.commit(() => datastores.insert('dst-2', 'open-db', password, true))

  for (const [id, name] of Object.entries({ 'dst-1': 'closed-db', 'dst-2': 'open-db' })) {
    await datastores.trash(id)
    await datastores.restoreFromTrash(id, name)
  }

  deepEqual([datastores.isShared('dst-1'), datastores.isShared('dst-2')], [false, true])
  deepEqual(datastores.isTrashed('dst-1'), false)
})
