// Backup retention: scheduled backups beyond the configured number are deleted, requested ones never.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backupsOf, pruneBackups } from '../../../src/effects/backup/backup.ts'
import { openBackupPorts } from '../../support/effects/backup-ports.ts'

const manual = { trigger: 'manual' }
const failed = { status: 'failed' }

/** The backups from oldest to newest, and the places of those that are deleted. */
for (const [what, keep, backups, deleted] of [
  ['of the successful scheduled backups the newest stay', 2, [{}, {}, {}, {}], [1, 0]],
  ['no backup is no obstacle', 2, [], []],
  ['all backups stay while there are no more than the configured number', 2, [failed, {}], []],
  ['a failed backup is deleted when there are enough good ones after it', 2, [failed, {}, {}], [0]],
  [
    'manual backups are neither deleted nor counted',
    1,
    [manual, {}, { ...manual, ...failed }, {}, manual],
    [1],
  ],
  [
    'failed backups do not count; they are deleted when older than all retained ones',
    2,
    [failed, {}, failed, {}, failed],
    [0],
  ],
  [
    'running backups and those being deleted are left alone',
    1,
    [{ status: 'running' }, { status: 'deleting' }, {}],
    [],
  ],
] as const) {
  test(what, async (t) => {
    const { ports, datastore, backup, sent } = await openBackupPorts(t)
    const datastoreId = await datastore(keep)
    const ids: string[] = []
    for (const each of backups) ids.push(await backup(each))

    await pruneBackups(ports, { datastoreId })

    const expected = deleted.map((place) => ({ id: ids[place], type: 'delete', by: 'the schedule' }))
    assert.deepEqual(sent, expected)
    assert.deepEqual(
      backupsOf(ports, datastoreId).map(({ id }) => id),
      ids.reverse(),
    )
  })
}

test('all backups of a deleted datastore stay', async (t) => {
  const { ports, backup, sent } = await openBackupPorts(t)
  await backup()

  await pruneBackups(ports, { datastoreId: 'dst-1' })

  assert.deepEqual(sent, [])
})
