// Which backups are kept, and a disk that gets full.
import assert, { deepEqual, equal, match, ok } from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import type { OneShotStreams } from '../../../src/docker/containers/one-shot-containers.ts'
import { backupEffects, backupsOf, dumpDatastore, pruneBackups } from '../../../src/effects/backup/backup.ts'
import type { BackupPorts } from '../../../src/effects/backup/ports.ts'
import { openBackupPlaces } from '../../../src/effects/backup-place/backup-places.ts'
import type { Storage } from '../../../storage/index.ts'
import { openBackupPorts } from '../../support/effects/backup-ports.ts'
import { standIn } from '../../support/effects/stand-in.ts'
import { transitionOf } from '../../support/storage/store-fixtures.ts'
import { fillDisk, smallDisk } from '../../support/system/small-disk.ts'

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

/** Their ages in days, from oldest to newest, and the places of those that are deleted. */
for (const [days, ages, deleted] of [
  [10, [40, 30, 20], [1, 0]],
  [10, [40, 9, 1], [0]],
  [10, [9, 1], []],
  [null, [40, 30, 20], []],
] as const) {
  test(`of backups that are ${ages} days old, those of ${days} days stay, and the newest`, async (t) => {
    const { ports, datastore, backup, sent } = await openBackupPorts(t)
    const datastoreId = await datastore(7, days)
    const ids: string[] = []
    for (const age of ages) ids.push(await backup({ ageDays: age }))

    await pruneBackups(ports, { datastoreId })

    assert.deepEqual(
      sent.map(({ id }) => id),
      deleted.map((place) => ids[place]),
    )
  })
}

const placesOf = (storage: Storage, directory: string) =>
  openBackupPlaces({ storage, folder: { directory, isOwn: false } })

test('all backups of a deleted datastore stay', async (t) => {
  const { ports, backup, sent } = await openBackupPorts(t)
  await backup()

  await pruneBackups(ports, { datastoreId: 'dst-1' })

  assert.deepEqual(sent, [])
})

const skip = process.getuid?.() === 0 ? false : 'needs root, to mount a small disk'
const neededMb = 16

test('a backup is canceled with the path, the free and the needed space', { skip }, async (t) => {
  const backupDir = smallDisk(t, 64)
  // The timer of the watch does not keep the process alive.
  const alive = setInterval(() => {}, 1000)
  t.after(() => clearInterval(alive))
  const opened = await openBackupPorts(t)
  const datastoreId = await opened.datastore()
  const { actors } = opened.ports.storage
  const record = { ...actors.record(datastoreId)!, status: 'available' }
  await actors.advance({
    ...transitionOf({ id: datastoreId, kind: 'datastore', service_id: null, revision: 2 }),
    record,
  })
  let isWriting = false
  /** Writes some data, fills the disk like another program, and continues until it is ended. */
  const run = async (_: object, { output }: OneShotStreams, signal: AbortSignal) => {
    await output?.(Buffer.alloc(1024 * 1024))
    isWriting = true
    fillDisk(backupDir, neededMb - 4)
    return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  const settings = { ...opened.settings, backupDir, minFreeDiskMb: neededMb, defaultMemoryLimitMb: 64 }
  const images = { postgresImage: 'postgres', redisImage: 'redis' }
  const ports = standIn<BackupPorts>({
    ...opened.ports,
    settings: { ...settings, ...images },
    tools: { run },
    places: placesOf(opened.ports.storage, settings.backupDir),
  })
  const kind = 'postgres' as const
  const dumpFile = { id: 'bak-1', datastoreName: 'shop-db', kind, at: '2026-01-02T03:04:05.678Z' }
  const input = { ...dumpFile, datastoreId, version: '17' }

  const failure = await dumpDatastore(ports, input, new AbortController().signal).then(
    () => null,
    (error: Error & { code: string }) => error,
  )

  ok(isWriting)
  equal(failure?.code, 'insufficient_storage')
  const words = /^canceled: \/\S+ has 1[12] MiB free, a backup needs 16 MiB \(--min-free-disk\)$/
  match(failure?.message ?? '', words)
  deepEqual(
    readdirSync(backupDir).filter((name) => name !== 'filler'),
    [],
  )
})

test('a backup whose place was forgotten can be deleted', async (t) => {
  const opened = await openBackupPorts(t)
  const removed: string[] = []
  const ports = standIn<BackupPorts>({
    ...opened.ports,
    places: placesOf(opened.ports.storage, opened.settings.backupDir),
    tools: { remove: async (id: string) => void removed.push(id) },
  })
  const at = '2026-01-02T03:04:05.678Z'
  const dump = { id: 'bak-1', datastoreName: 'shop-db', kind: 'postgres', at, place: 'lost' } as const
  const input = { ...dump, datastoreId: 'dst-1', version: '17' }

  await backupEffects(ports).removeBackup(input, new AbortController().signal)
  await backupEffects(ports).discardDump(input, new AbortController().signal)

  deepEqual(removed, ['bak-1', 'bak-1'])
  await assert.rejects(async () => ports.places.open('lost'), { code: 'not_found' })
})
