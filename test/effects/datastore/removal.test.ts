// The removal of a datastore that a late effect has put into the trash at the same time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DatastorePorts } from '../../../src/effects/datastore/ports.ts'
import { removeDatastore } from '../../../src/effects/datastore/removal.ts'
import { Failure } from '../../../src/errors.ts'
import { id, openDatastorePorts, password } from '../../support/effects/datastore-ports.ts'
import { standIn } from '../../support/effects/stand-in.ts'

const signal = new AbortController().signal

test('the container of another datastore that took the name is left alone', async (t) => {
  const { ports, storage } = await openDatastorePorts(t, { status: 'deleting' })
  const removed: string[] = []
  const remove = async (name: string) => {
    removed.push(name)
    if (removed.length > 1) return
    await storage.datastores.trash(id)
    await storage.commit(() => storage.datastores.insert('dst-2', 'shop', password))
    throw new Failure('docker_error', 'the engine refuses')
  }
  const engine = { ...ports.engine, call: async () => ({ Labels: {} }) }
  const changed = standIn<DatastorePorts>({ ...ports, engine, instances: { ...ports.instances, remove } })

  await removeDatastore(changed)({ id, backupId: null }, signal)

  assert.deepEqual(removed, ['berth-datastore-shop'])
  assert.deepEqual([storage.datastores.has(id), storage.datastores.idOf('shop')], [false, 'dst-2'])
})
