// Names of backup files: readable, sorted by time, and unique.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backupAddress, backupFileName } from '../../src/domain/backup-files.ts'
import { createIds } from '../../storage/store/ids.ts'

const dumpPlace = {
  id: 'bak-01hzy7k9m000000000009k3f2a',
  name: 'shop-db',
  kind: 'postgres',
  at: '2026-01-02T03:04:05.678Z',
} as const

test('a name contains the datastore, the time and the kind', () => {
  assert.equal(backupFileName(dumpPlace), 'shop-db-20260102T030405Z-9k3f2a.dump')
  assert.equal(backupFileName({ ...dumpPlace, kind: 'redis' }), 'shop-db-20260102T030405Z-9k3f2a.rdb')
  assert.equal(backupFileName({ ...dumpPlace, kind: 'disk' }), 'shop-db-20260102T030405Z-9k3f2a.tar.gz')
})

test('each datastore has its own folder, and a backup without a place is in the folder of the server', () => {
  const name = 'shop-db/shop-db-20260102T030405Z-9k3f2a.dump'
  assert.deepEqual(backupAddress(dumpPlace), { place: 'folder', name })
  assert.deepEqual(backupAddress({ ...dumpPlace, place: 'offsite' }), { place: 'offsite', name })
})

test('names of one datastore sort by creation, and are unique within a second', () => {
  const ids = createIds()
  const at = (second: number) => `2026-01-02T03:04:${String(second).padStart(2, '0')}.000Z`
  const names = Array.from({ length: 60 }, (_, second) => backupFileName({ ...dumpPlace, at: at(second) }))
  const same = Array.from({ length: 500 }, () => backupFileName({ ...dumpPlace, id: ids.newId('bak') }))

  assert.deepEqual([...names].sort(), names)
  assert.equal(new Set(same).size, same.length)
})
