// A backup is canceled while it is written if the backup directory has too little space left, and the
// partial file can be removed.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { OneShotStreams } from '../../../src/docker/containers/one-shot-containers.ts'
import { dumpDatastore } from '../../../src/effects/backup/backup.ts'
import { removeFile } from '../../../src/effects/backup/file.ts'
import type { BackupPorts } from '../../../src/effects/backup/ports.ts'
import { DiskWatch } from '../../../src/effects/disk/disk-watch.ts'
import { openBackupPorts } from '../../support/effects/backup-ports.ts'
import { standIn } from '../../support/effects/stand-in.ts'
import { transitionOf } from '../../support/storage/store-fixtures.ts'
import { fillDisk, smallDisk } from '../../support/system/small-disk.ts'

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
    diskWatch: new DiskWatch(neededMb),
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
