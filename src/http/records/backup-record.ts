// Backups and restores in responses: the record of their charts, and their progress. Only the running effect
// knows the progress; it is not committed.
import type { BackupRecord } from '../../../machines/backup.ts'
import type { RestoreRecord } from '../../../machines/restore.ts'
import type { CommonRecordFields } from '../../../storage/actors/actors.ts'
import type { Backup, Restore } from '../../api/backup.ts'
import { backupPath } from '../../domain/backup-names.ts'
import { Failure } from '../../errors.ts'
import type { HttpContext, HttpStorage } from '../pipeline/context.ts'
import { failureOf } from '../why/advice.ts'
import { adviseOnBackup, adviseOnRestore } from '../why/record-advice.ts'

/** Throws `not_found`. */
export function findBackup(storage: HttpStorage, id: string): BackupRecord & CommonRecordFields {
  const record = id.startsWith('bak-') ? storage.actors.record<'backup'>(id) : null
  if (!record || record.status === 'deleted') throw new Failure('not_found', 'there is no such backup')
  return record
}

/** Throws `not_found`. */
export function findRestore(storage: HttpStorage, id: string): RestoreRecord & CommonRecordFields {
  const record = id.startsWith('rst-') ? storage.actors.record<'restore'>(id) : null
  if (!record) throw new Failure('not_found', 'there is no such restore')
  return record
}

type BackupContext = Pick<HttpContext, 'config' | 'observe'>

export function toBackup(
  { config, observe }: BackupContext,
  record: BackupRecord & CommonRecordFields,
): Backup {
  const { service_id: _, ...shown } = record
  const progress = observe.progress(record.id)
  return {
    ...shown,
    ...failureOf(record, adviseOnBackup(record)),
    status: record.status as Backup['status'],
    done_bytes: progress?.doneBytes ?? null,
    total_bytes: progress?.totalBytes ?? null,
    file: fileOf(config.backupDir, record),
  }
}

export function toRestore({ observe }: BackupContext, record: RestoreRecord & CommonRecordFields): Restore {
  const { service_id: _, ...shown } = record
  const progress = observe.progress(record.id)
  return {
    ...shown,
    ...failureOf(record, adviseOnRestore(record)),
    done_bytes: progress?.doneBytes ?? null,
    total_bytes: progress?.totalBytes ?? null,
  }
}

export function fileOf(directory: string, { id, datastore, kind, created_at: at }: BackupRecord): string {
  return backupPath(directory, { id, datastoreName: datastore, kind, at })
}
