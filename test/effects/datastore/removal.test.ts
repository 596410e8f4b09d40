// What removing a datastore does when a late effect has put it into the trash in the middle of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removeDatastore } from '../../../src/effects/datastore/removal.ts'
import type { Host } from '../../../src/effects/host.ts'
import { Failure } from '../../../src/errors.ts'
import { id, openDatastoreHost, password } from '../../support/datastore-host.ts'

const signal = new AbortController().signal

test('the container of another one that took its name in the middle is left alone', async (t) => {
  const { host, storage } = await openDatastoreHost(t, { status: 'deleting' })
  const removed: string[] = []
  const remove = async (name: string) => {
    removed.push(name)
    if (removed.length > 1) return
    await storage.datastores.trash(id)
    await storage.commit(() => storage.datastores.insert('dst-2', 'shop', password))
    throw new Failure('docker_error', 'the engine refuses')
  }
  const engine = { ...host.engine, call: async () => ({ Labels: {} }) }
  const changed = { ...host, engine, instances: { ...host.instances, remove } } as unknown as Host

  await removeDatastore(changed)({ id, backupId: null }, signal)

  assert.deepEqual(removed, ['berth-datastore-shop'])
  assert.deepEqual([storage.datastores.has(id), storage.datastores.idOf('shop')], [false, 'dst-2'])
})
