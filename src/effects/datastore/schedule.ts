// Scheduled backups of a datastore, one at a time. Backups that were missed while the daemon was down are
// made up for by one. Setting the clock back makes no backup due again.
import type { BackupInput } from '../../../machines/backup.ts'
import type { DatastoreSlot } from '../../../machines/datastore/datastore-context.ts'
import type { By } from '../../../storage/actors/actors.ts'
import { folderPlace } from '../../domain/backup-files.ts'
import { nextTime } from '../../domain/schedule.ts'
import { backupsOf } from '../backup/backup.ts'
import { bySchedule } from '../by.ts'
import { awaitExpiry } from '../disk/trash.ts'
import { isoNow } from '../iso-now.ts'
import { findDatastore } from './access.ts'
import type { DatastorePorts } from './kind.ts'

type BackupSlot = DatastoreSlot & { backupId: string }
type SpawnPorts = Pick<DatastorePorts, 'storage' | 'owner' | 'actors' | 'logger'>

export async function awaitBackupTime(
  ports: Pick<DatastorePorts, 'storage'>,
  { schedule, since }: { schedule: string; since: string },
  signal: AbortSignal,
) {
  const dueAt = nextTime(schedule, new Date(since))?.getTime() ?? Number.POSITIVE_INFINITY
  await awaitExpiry({ wakeAt: dueAt }, signal)
  // The next time is computed from now, but never from before the backup that is due.
  const at = new Date(Math.max(Date.now(), dueAt)).toISOString()
  return { at, backupId: ports.storage.ids.newId('bak') }
}

export async function beginBackup(ports: SpawnPorts, slot: BackupSlot) {
  const running = backupsOf(ports, slot.id).find(
    ({ id, status, trigger }) => id !== slot.backupId && status === 'running' && trigger === 'schedule',
  )
  if (running) {
    ports.logger.warn(
      { datastore: running.datastore, backup: running.id },
      'the previous backup has not ended: none is started',
    )
  } else await spawnBackup(ports, slot, 'schedule', bySchedule)
}

export async function spawnBackup(
  ports: SpawnPorts,
  { id: datastoreId, kind, version, backupId: id }: BackupSlot,
  trigger: BackupInput['trigger'],
  by: By,
): Promise<void> {
  const { name: datastoreName, backup_place } = findDatastore(ports, datastoreId).record
  const place = backup_place ?? ports.storage.backupPlaces.defaultName() ?? folderPlace
  const input = { id, datastoreId, datastoreName, kind, version, place, trigger, at: isoNow() }
  await ports.actors.spawn('backup', id, input, { by })
}
