// The effects that put a datastore into the trash and remove it, when they are repeated too late.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DatastorePorts } from '../../../src/effects/datastore/kind.ts'
import { removeDatastore, trashDatastore } from '../../../src/effects/datastore/trash.ts'
import { Failure } from '../../../src/errors.ts'
import { id, openDatastorePorts, password } from '../../support/effects/datastore-ports.ts'
import { standIn } from '../../support/effects/stand-in.ts'

const signal = new AbortController().signal

async function open(t: Parameters<typeof openDatastorePorts>[0], status: string) {
  const opened = await openDatastorePorts(t, { status })
  const { ports } = opened
  const removed: string[] = []
  const instances = {
    ...ports.instances,
    stop: async () => undefined,
    remove: async (name: string) => void removed.push(name),
  }
  const Labels = { 'berth.instance': 'berth', 'berth.server': 'one' }
  const volume = { inspect: async () => ({ Name: 'v', Labels, Mountpoint: '/nonexistent' }) }
  const engine = {
    ...ports.engine,
    call: (_: string, run: (signal: AbortSignal) => Promise<unknown>) => run(signal),
    docker: { getVolume: () => volume },
  }
  const changed = standIn<DatastorePorts>({ ...ports, instances, engine })
  return { ...opened, removed, put: () => trashDatastore(changed, { id }, signal) }
}

test('moving to the trash removes the container, and frees the name', async (t) => {
  const { put, removed, storage } = await open(t, 'deleting')
  assert.equal((await put()).hasVolume, true)
  assert.deepEqual(removed, ['berth-datastore-shop'])
  assert.deepEqual([storage.datastores.isTrashed(id), storage.datastores.isFree('shop')], [true, true])
})

test('repeating the move after a restore does nothing', async (t) => {
  const { put, removed, storage } = await open(t, 'available')
  await put()
  assert.deepEqual(removed, [])
  assert.equal(storage.datastores.isTrashed(id), false)
})

test('repeating the move after another datastore took the name leaves that one alone', async (t) => {
  const { put, removed, become, storage } = await open(t, 'deleting')
  await put()
  await become({ status: 'trashed' })
  await storage.commit(() => storage.datastores.insert('dst-2', 'shop', password))
  removed.length = 0
  await put()
  assert.deepEqual(removed, [])
  assert.equal(storage.datastores.idOf('shop'), 'dst-2')
})

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

  await removeDatastore(changed, { id, backupId: null }, signal)

  assert.deepEqual(removed, ['berth-datastore-shop'])
  assert.deepEqual([storage.datastores.has(id), storage.datastores.idOf('shop')], [false, 'dst-2'])
})
