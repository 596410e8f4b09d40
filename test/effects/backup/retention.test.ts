// Backup retention: scheduled backups beyond the configured number are deleted, requested ones never.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backupsOf, pruneBackups } from '../../../src/effects/backup/retention.ts'
import { openBackupPorts } from '../../support/effects/backup-ports.ts'

test('of the successful scheduled backups the newest stay', async (t) => {
  const { ports, datastore, backup, sent } = await openBackupPorts(t)
  const datastoreId = await datastore(2)
  const ids = [await backup(), await backup(), await backup(), await backup()]

  await pruneBackups(ports)({ datastoreId })

  const gone = [ids[1], ids[0]].map((id) => ({ id, type: 'delete', by: 'the schedule' }))
  assert.deepEqual(sent, gone)
})

test('all backups stay while there are no more than the configured number', async (t) => {
  const { ports, datastore, backup, sent } = await openBackupPorts(t)
  const datastoreId = await datastore(2)
  await pruneBackups(ports)({ datastoreId })
  await backup({ status: 'failed' })
  await backup()
  await pruneBackups(ports)({ datastoreId })
  await backup()

  await pruneBackups(ports)({ datastoreId })

  assert.deepEqual(sent.length, 1, 'the failed one, when there are two good ones after it')
})

test('manual backups are neither deleted nor counted', async (t) => {
  const { ports, datastore, backup, sent } = await openBackupPorts(t)
  const datastoreId = await datastore(1)
  const manual = { trigger: 'manual' }
  await backup(manual)
  const old = await backup()
  await backup({ ...manual, status: 'failed' })
  await backup()
  await backup(manual)

  await pruneBackups(ports)({ datastoreId })

  assert.deepEqual(
    sent.map(({ id }) => id),
    [old],
  )
})

test('failed backups do not count; they are deleted when older than all retained ones', async (t) => {
  const { ports, datastore, backup, sent } = await openBackupPorts(t)
  const datastoreId = await datastore(2)
  const failed = { status: 'failed' }
  const oldest = await backup(failed)
  await backup()
  await backup(failed)
  await backup()
  await backup(failed)

  await pruneBackups(ports)({ datastoreId })

  assert.deepEqual(
    sent.map(({ id }) => id),
    [oldest],
  )
})

test('running backups and those being deleted are left alone', async (t) => {
  const { ports, datastore, backup, sent } = await openBackupPorts(t)
  const datastoreId = await datastore(1)
  const running = await backup({ status: 'running' })
  const deleting = await backup({ status: 'deleting' })
  const newest = await backup()

  await pruneBackups(ports)({ datastoreId })

  assert.deepEqual(sent, [])
  const listed = backupsOf(ports, datastoreId).map(({ id }) => id)
  assert.deepEqual(listed, [newest, deleting, running])
})

test('all backups of a deleted datastore stay', async (t) => {
  const { ports, backup, sent } = await openBackupPorts(t)
  await backup()

  await pruneBackups(ports)({ datastoreId: 'dst-1' })

  assert.deepEqual(sent, [])
})
