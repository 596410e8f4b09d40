// Backups of datastores: begun, listed, handed out, deleted. They outlive their datastore.
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { BackupInput, BackupRecord } from '../../../machines/backup.ts'
import { Failure } from '../../errors.ts'
import { fileOf, findBackup, toBackup } from '../backup-record.ts'
import type { HttpContext } from '../context.ts'
import { findDatastore, refuseIdle } from '../datastore-record.ts'
import { type Call, Download } from '../route.ts'
import type { Backup, BackupParams, BackupsQuery } from '../schemas/backup.ts'
import type { DatastoreParams } from '../schemas/datastore.ts'
import type { HistoryEntry } from '../schemas/deploy.ts'

/** The newest first. */
export function listBackups({ context, query }: Call<unknown, BackupsQuery>): Backup[] {
  const { actors } = context.storage
  const records = [...actors.active('backup')].map(({ id }) => actors.record(id)) as unknown as BackupRecord[]
  return records
    .filter((record) => isOf(record, query.datastore))
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .map((record) => toBackup(context, record))
}

function isOf({ datastore, datastore_id }: BackupRecord, wanted: string | undefined): boolean {
  return wanted === undefined || wanted === datastore || wanted === datastore_id
}

export function getBackup({ context, params }: Call<BackupParams>): Backup {
  return toBackup(context, findBackup(context.storage, params.id))
}

export function backupHistory({ context, params }: Call<BackupParams>): HistoryEntry[] {
  return context.storage.actors.history(findBackup(context.storage, params.id).id)
}

export async function createBackup({ context, params, eventId }: Call<DatastoreParams>): Promise<Backup> {
  const datastore = findDatastore(context.storage, params.id)
  refuseIdle(datastore)
  const { id: datastoreId, name: datastoreName, kind, version } = datastore
  const id = context.storage.ids.newId('bak')
  const at = new Date().toISOString()
  const input: BackupInput = { id, datastoreId, datastoreName, kind, version, trigger: 'manual', at }
  const { record } = await context.actors.spawn('backup', id, input, eventId ? { eventId } : {})
  return toBackup(context, record as unknown as BackupRecord)
}

/** What a repetition gets: the backup as it is now. */
export function repeatBackup(context: HttpContext, { id }: { id: string }): Backup {
  return toBackup(context, findBackup(context.storage, id))
}

export async function downloadBackup({ context, params }: Call<BackupParams>): Promise<Download> {
  const record = findBackup(context.storage, params.id)
  if (record.status !== 'good') throw new Failure('conflict', `the backup is ${record.status}, not good`)
  const path = fileOf(context.config.backupDir, record)
  const found = await stat(path).catch(() => null)
  if (found?.size === record.size_bytes) return new Download(path, found.size, basename(path))
  throw new Failure('conflict', `${path} is ${found ? 'not what was checked' : 'gone'}`)
}

export async function deleteBackup({ context, params }: Call<BackupParams>): Promise<undefined> {
  const { actors } = context.storage
  const { id } = findBackup(context.storage, params.id)
  const restores = [...actors.active('restore')].map((restore) => actors.record(restore.id))
  const user = restores.find((restore) => restore?.backup_id === id)
  if (user) throw new Failure('in_use', `${user.id} restores ${user.datastore} from it`)
  await context.actors.send(id, { type: 'delete', at: new Date().toISOString(), by: 'the API' })
}
