// Actors of a service beyond the newest ones are deleted, with all their data.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { Storage } from '../../storage/index.ts'
import { rawTables, transitionOf } from '../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const kind = 'job-run'

async function createActor(storage: Storage, { final = true, service_id = 'svc-1' } = {}): Promise<string> {
  const id = storage.ids.newId('job')
  await storage.actors.create(transitionOf({ id, kind, final, service_id }, { status: 'pending' }))
  return id
}

test('the newest stay; the others are deleted with record, index and history, and returned', async (t) => {
  const directory = temporaryDirectory(t)
  const storage = await temporaryStorage(t, directory)
  const ids: string[] = []
  for (let count = 0; count < 5; count++) ids.unshift(await createActor(storage))

  const gone = await storage.actors.removeOlder(kind, 'svc-1', 2)
  const again = await storage.actors.removeOlder(kind, 'svc-1', 2)

  const [newest, second, ...others] = ids
  deepEqual([gone, again], [others, []])
  deepEqual(storage.actors.ids(kind, 'svc-1'), [newest, second])
  deepEqual(
    others.map((id) => [storage.actors.get(id), storage.actors.record(id), storage.actors.history(id)]),
    others.map(() => [null, null, []]),
  )
  await storage.close()
  const text = JSON.stringify(await rawTables(directory))
  deepEqual(
    others.filter((id) => text.includes(id)),
    [],
  )
})

test('unfinished actors and those of other services stay at any age', async (t) => {
  const storage = await temporaryStorage(t)
  const elsewhere = await createActor(storage, { service_id: 'svc-0' })
  const later = await createActor(storage, { service_id: 'svc-2' })
  const open = await createActor(storage, { final: false })
  const over = await createActor(storage)
  const newest = await createActor(storage)

  deepEqual(await storage.actors.removeOlder(kind, 'svc-1', 1), [over])

  deepEqual(storage.actors.ids(kind, 'svc-1'), [newest, open])
  deepEqual([...storage.actors.ids(kind, 'svc-0'), ...storage.actors.ids(kind, 'svc-2')], [elsewhere, later])
})
