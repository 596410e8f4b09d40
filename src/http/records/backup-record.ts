// Backups and restores in responses. Only the running effect knows the progress; it is not committed.
import type { BackupRecord } from '../../../machines/backup.ts'
import type { RestoreRecord } from '../../../machines/restore.ts'
import type { CommonRecordFields } from '../../../storage/actors/actors.ts'
import type { Backup, Restore } from '../../api/backup.ts'
import { recordAddress } from '../../domain/backup-files.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { adviseOnBackup, adviseOnRestore, failureOf } from '../why/advice.ts'
import { finder } from './stored-record.ts'

export const findBackup = finder<'backup'>('bak', 'backup')
export const findRestore = finder<'restore'>('rst', 'restore')

type BackupContext = Pick<HttpContext, 'backupPlaces' | 'observe'>

export function toBackup(
  { backupPlaces, observe }: BackupContext,
  record: BackupRecord & CommonRecordFields,
): Backup {
  const { service_id: ownerId, ...shown } = record
  const { place, name } = recordAddress(record)
  const progress = observe.progress(record.id)
  return {
    ...shown,
    ...failureOf(record, adviseOnBackup(record)),
    service_id: record.kind === 'disk' ? ownerId : null,
    // Records of earlier versions have neither.
    service: record.service ?? null,
    disk: record.disk ?? null,
    status: record.status as Backup['status'],
    done_bytes: progress?.doneBytes ?? null,
    total_bytes: progress?.totalBytes ?? null,
    place,
    file: backupPlaces.locationOf(place, name),
  }
}

export function toRestore({ observe }: BackupContext, record: RestoreRecord & CommonRecordFields): Restore {
  const { service_id: ownerId, ...shown } = record
  const progress = observe.progress(record.id)
  return {
    ...shown,
    service_id: record.kind === 'disk' ? ownerId : null,
    service: record.service ?? null,
    disk: record.disk ?? null,
    new_disk: record.new_disk ?? null,
    ...failureOf(record, adviseOnRestore(record)),
    done_bytes: progress?.doneBytes ?? null,
    total_bytes: progress?.totalBytes ?? null,
  }
}

export function readBackup(context: HttpContext, id: string): Backup {
  return toBackup(context, findBackup(context.storage, id))
}

export function readRestore(context: HttpContext, id: string): Restore {
  return toRestore(context, findRestore(context.storage, id))
}
