// Scheduled backups of a datastore, one at a time. Backups that were missed while the daemon was down are
// made up for by one. Setting the clock back makes no backup due again.
import type { DatastoreSlot } from '../../../machines/datastore/datastore-context.ts'
import { sleep } from '../../async/sleep.ts'
import { nextTime } from '../../domain/schedule.ts'
import { backupsOf } from '../backup/retention.ts'
import { bySchedule } from '../by.ts'
import { isoNow } from '../iso-now.ts'
import { findDatastore } from './access.ts'
import type { DatastorePorts } from './ports.ts'

/** The clock may be set between two polls. */
const pollIntervalMs = 30_000

export function awaitBackupTime(ports: Pick<DatastorePorts, 'storage'>) {
  return async ({ schedule, since }: { schedule: string; since: string }, signal: AbortSignal) => {
    const dueAt = nextTime(schedule, new Date(since))?.getTime() ?? Number.POSITIVE_INFINITY
    for (let left = dueAt - Date.now(); left > 0; left = dueAt - Date.now()) {
      await sleep(Math.min(left, pollIntervalMs), signal)
    }
    // The next time is computed from now, but never from before the backup that is due.
    const at = new Date(Math.max(Date.now(), dueAt)).toISOString()
    return { at, backupId: ports.storage.ids.newId('bak') }
  }
}

export function startBackup(ports: Pick<DatastorePorts, 'storage' | 'owner' | 'actors' | 'logger'>) {
  return async ({ id, kind, version, backupId }: DatastoreSlot & { backupId: string }) => {
    const { name } = findDatastore(ports, id).record
    const running = backupsOf(ports, id).find(
      ({ id: other, status, trigger }) =>
        other !== backupId && status === 'running' && trigger === 'schedule',
    )
    if (running) {
      ports.logger.warn(
        { datastore: name, backup: running.id },
        'the previous backup has not ended: none is started',
      )
    } else {
      const at = isoNow()
      const input = { id: backupId, datastoreId: id, datastoreName: name, kind, version, at }
      await ports.actors.spawn('backup', backupId, { ...input, trigger: 'schedule' }, { by: bySchedule })
    }
    return { at: isoNow() }
  }
}
