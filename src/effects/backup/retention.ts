// Backup retention: the newest successful scheduled backups of a datastore are kept, as many as its setting.
// Backups that a user requested stay until a user deletes them.
import type { BackupRecord } from '../../../machines/backup.ts'
import { isoNow } from '../iso-now.ts'
import type { BackupPorts } from './ports.ts'

export function pruneBackups(ports: Pick<BackupPorts, 'storage' | 'actors'>) {
  return async ({ datastoreId }: { datastoreId: string }) => {
    const datastore = ports.storage.actors.record<'datastore'>(datastoreId)
    if (datastore !== null) {
      const over = findExpired(backupsOf(ports, datastoreId), datastore.backup_keep)
      for (const { id } of over)
        await ports.actors.send(id, { type: 'delete', at: isoNow(), by: 'the schedule' })
    }
    return { at: isoNow() }
  }
}

/** The backups of a datastore, newest first. */
export function backupsOf({ storage }: Pick<BackupPorts, 'storage'>, datastoreId: string): BackupRecord[] {
  const ids = [...storage.actors.active('backup', datastoreId)].map(({ id }) => id)
  const records = ids.sort((a, b) => (a < b ? 1 : -1)).map((id) => storage.actors.record<'backup'>(id))
  return records.filter((record) => record !== null)
}

/** Successful scheduled backups beyond the newest `keep`, and failed ones older than those. Newest first. */
function findExpired(backups: BackupRecord[], keep: number): BackupRecord[] {
  const scheduled = backups.filter(({ trigger }) => trigger === 'schedule')
  const oldest = scheduled.filter(({ status }) => status === 'good')[keep - 1]
  if (oldest === undefined) return []
  const hasEnded = ({ id, status }: BackupRecord) =>
    id < oldest.id && (status === 'good' || status === 'failed')
  return scheduled.filter(hasEnded)
}
