// The files of backups: how they are written and read, which are kept, and a disk that gets full.
import assert, { deepEqual, equal, match, ok } from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { OneShotStreams } from '../../../src/docker/containers/one-shot-containers.ts'
import { backupPath } from '../../../src/domain/backup-files.ts'
import { backupsOf, dumpDatastore, pruneBackups } from '../../../src/effects/backup/backup.ts'
import {
  createDraft,
  findFile,
  publishDraft,
  readFile,
  removeFile,
} from '../../../src/effects/backup/file.ts'
import type { BackupPorts } from '../../../src/effects/backup/ports.ts'
import { openBackupPorts } from '../../support/effects/backup-ports.ts'
import { standIn } from '../../support/effects/stand-in.ts'
import { transitionOf } from '../../support/storage/store-fixtures.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'
import { fillDisk, smallDisk } from '../../support/system/small-disk.ts'

const dumpPlace = {
  id: 'bak-1',
  datastoreName: 'shop-db',
  kind: 'postgres',
  at: '2026-01-02T03:04:05.678Z',
} as const

async function start(t: TestContext, changes: object = {}) {
  const { settings: own } = await openBackupPorts(t)
  const settings = { ...own, ...changes }
  const path = backupPath(settings.backupDir, dumpPlace)
  const write = async (...pieces: string[]) => {
    const draft = await createDraft(settings, dumpPlace)
    try {
      for (const piece of pieces) await draft.write(Buffer.from(piece))
    } finally {
      await draft.close()
    }
    return draft.sizeBytes()
  }
  return { settings, path, folder: dirname(path), write, names: () => readdirSync(dirname(path)) }
}

const modeOf = (path: string) => statSync(path).mode & 0o777

test('a file gets its name when it is complete, and is private to its owner', async (t) => {
  const { settings, path, folder, write, names } = await start(t)

  assert.equal(await write('one', ' two'), 7)
  assert.deepEqual(names(), ['shop-db-20260102T030405Z-bak-1.dump.part'])
  assert.equal(await findFile(settings, dumpPlace), `${path}.part`)
  await publishDraft(settings, dumpPlace)

  assert.deepEqual(names(), ['shop-db-20260102T030405Z-bak-1.dump'])
  assert.equal(readFileSync(path, 'utf8'), 'one two')
  const modes = [path, folder, settings.backupDir].map(modeOf)
  assert.deepEqual(modes, [0o600, 0o700, 0o700])
})

test('a repeated backup contains nothing of the interrupted one', async (t) => {
  const { write, path } = await start(t)
  await write('a long one that broke off')
  await write('short')
  assert.equal(readFileSync(`${path}.part`, 'utf8'), 'short')
})

test('a crash right after the rename is repaired by repeating it', async (t) => {
  const { settings, path, write, names } = await start(t)
  await write('data')
  renameSync(`${path}.part`, path)

  assert.equal(await findFile(settings, dumpPlace), path)
  await publishDraft(settings, dumpPlace)
  await publishDraft(settings, dumpPlace)

  assert.equal(names().length, 1)
})

test('a missing file is reported by every operation', async (t) => {
  const { settings, path, write } = await start(t)
  await write('data')
  await removeFile(settings, dumpPlace)

  await assert.rejects(findFile(settings, dumpPlace), { code: 'backup_failed', message: `${path} is gone` })
  await assert.rejects(publishDraft(settings, dumpPlace), { code: 'backup_failed' })
})

test('removal deletes partial and complete files, and the folder with the last one', async (t) => {
  const { settings, path, folder, write, names } = await start(t)
  await write('data')
  writeFileSync(path, 'data')
  writeFileSync(join(folder, 'other.dump'), 'data')

  await removeFile(settings, dumpPlace)
  assert.deepEqual(names(), ['other.dump'])
  await removeFile(settings, { ...dumpPlace, id: 'bak-none' })
  await removeFile({ ...settings, backupDir: '/nowhere' }, dumpPlace)
  await write('data')
  renameSync(join(folder, 'other.dump'), join(settings.dataDir, 'elsewhere'))
  await removeFile(settings, dumpPlace)

  assert.equal(existsSync(folder), false)
})

test('a configured folder is not created: a missing one means an unmounted disk', async (t) => {
  const beside = `${temporaryDirectory(t)}/backups`
  const { settings, write } = await start(t, { backupDir: beside })
  const message = `${beside} does not exist: is it mounted? (--backup-dir)`

  await assert.rejects(write('data'), { code: 'backup_failed', message })
  const longer = await start(t, { backupDir: `${settings.dataDir}-backups`, dataDir: settings.dataDir })
  await assert.rejects(longer.write('data'), /does not exist: is it mounted/)
  mkdirSync(beside)

  assert.equal(await write('data'), 4)
})

test('too little disk space is reported before the start, and also when it runs out', async (t) => {
  const disk = smallDisk(t, 8)
  const before = await start(t, { backupDir: disk, minFreeDiskMb: 100 })
  const words = new RegExp(`^${disk} has \\d+ MiB free, a backup needs 100 MiB \\(--min-free-disk\\)$`)
  await assert.rejects(before.write('data'), { code: 'insufficient_storage', message: words })
  assert.deepEqual(before.names(), [])

  const { write, settings, path } = await start(t, { backupDir: disk })
  const piece = 'x'.repeat(1024 * 1024)
  const full = { code: 'backup_failed', message: /^it cannot be written: ENOSPC/ }
  await assert.rejects(write(...Array.from({ length: 12 }, () => piece)), full)
  await removeFile(settings, dumpPlace)

  assert.equal(existsSync(dirname(path)), false)
})

test('the file is read in pieces, completely, or until the reader aborts', async (t) => {
  const { settings, write } = await start(t)
  await write('x'.repeat(200_000), 'end')
  const file = { id: 'rst-1', path: await findFile(settings, dumpPlace), sizeBytes: 200_003 }
  const progress = new Map()
  const read: Uint8Array[] = []
  const ending = new AbortController()

  for await (const piece of readFile({ progress }, file, ending.signal)) read.push(piece)

  assert.deepEqual(progress.get('rst-1'), { doneBytes: 200_003, totalBytes: 200_003 })
  assert.equal(Buffer.concat(read).subarray(-3).toString(), 'end')
  ending.abort(new Error('enough'))
  await assert.rejects(readFile({ progress }, file, ending.signal).next(), /enough/)
})

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
  const words = /^canceled: \/\S+ has 12 MiB free, a backup needs 16 MiB \(--min-free-disk\)$/
  match(failure?.message ?? '', words)
  equal(readdirSync(join(backupDir, 'shop-db')).length, 1)
  await removeFile(ports.settings, input)
  deepEqual(
    readdirSync(backupDir).filter((name) => name !== 'filler'),
    [],
  )
})
