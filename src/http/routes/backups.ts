// Backups of datastores. They outlive their datastore.

import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { z } from 'zod'
import type { BackupInput, BackupRecord } from '../../../machines/backup.ts'
import type { CommonRecordFields } from '../../../storage/actors/actors.ts'
import { Backup, BackupParams, BackupsQuery } from '../../api/backup.ts'
import { DatastoreParams } from '../../api/datastore.ts'
import { conflict, Failure } from '../../errors.ts'
import {
  type Call,
  type CallById,
  Download,
  del,
  get,
  post,
  tagged,
  type WithHeaders,
} from '../pipeline/route.ts'
import { fileOf, findBackup, readBackup, toBackup } from '../records/backup-record.ts'
import { assertAvailable, findDatastore } from '../records/datastore-record.ts'
import { paged } from '../records/paging.ts'
import { command, requesterOf } from '../records/requester.ts'
import { adviseOnBackup } from '../why/record-advice.ts'
import { historyRoute, show, whyRoute } from './record-routes.ts'

export const backupRoutes = tagged('Backups', [
  get('/backups', {
    role: 'read',
    summary: 'Lists all backups, including those of deleted datastores, newest first',
    query: BackupsQuery,
    response: z.array(Backup),
    handler: listBackups,
  }),
  get('/backups/{id}', {
    role: 'read',
    summary: 'Returns a backup',
    params: BackupParams,
    response: Backup,
    handler: show(readBackup),
  }),
  del('/backups/{id}', {
    summary: 'Deletes a backup and its file',
    params: BackupParams,
    problems: ['in_use'],
    handler: deleteBackup,
  }),
  get('/backups/{id}/content', {
    summary: 'Downloads the file of a verified backup: for pg_restore, or an RDB file',
    params: BackupParams,
    response: 'bytes',
    problems: ['conflict'],
    handler: downloadBackup,
  }),
  historyRoute('/backups/{id}', {
    params: BackupParams,
    summary: 'Lists the transitions of a backup',
    find: findBackup,
  }),
  post('/datastores/{id}/backups', {
    summary: 'Starts a backup, which is kept until it is deleted',
    params: DatastoreParams,
    response: Backup,
    status: 202,
    problems: ['conflict'],
    replay: readBackup,
    handler: createBackup,
  }),
  whyRoute('/backups/{id}', {
    params: BackupParams,
    summary: 'Explains why a backup failed, and what to do about it',
    find: findBackup,
    advise: (backup) => adviseOnBackup(backup),
  }),
])

/** The newest first. Deleted backups are final, so they are not active actors. */
function listBackups(call: Call<unknown, BackupsQuery>): WithHeaders<Backup[]> {
  const { context, query } = call
  const { actors } = context.storage
  const ids = [...actors.active('backup')].map(({ id }) => id).filter((id) => id < (query.before ?? '~'))
  const views: (BackupRecord & CommonRecordFields)[] = []
  for (const id of ids.sort().reverse()) {
    const record = actors.record<'backup'>(id)
    if (!record || !isOf(record, query.datastore)) continue
    if (views.length === query.limit) return paged(call, views.map(toShown), views.at(-1)!.id)
    views.push(record)
  }
  return paged(call, views.map(toShown), null)

  function toShown(record: BackupRecord & CommonRecordFields): Backup {
    return toBackup(context, record)
  }
}

function isOf({ datastore, datastore_id }: BackupRecord, wanted: string | undefined): boolean {
  return wanted === undefined || wanted === datastore || wanted === datastore_id
}

async function createBackup(call: CallById): Promise<Backup> {
  const { context, params, eventId } = call
  const datastore = findDatastore(context.storage, params.id)
  assertAvailable(datastore)
  const { id: datastoreId, name: datastoreName, kind, version } = datastore
  const id = context.storage.ids.newId('bak')
  const at = new Date().toISOString()
  const input: BackupInput = { id, datastoreId, datastoreName, kind, version, trigger: 'manual', at }
  const { record } = await context.actors.spawn('backup', id, input, {
    eventId,
    by: requesterOf(call),
  })
  return toBackup(context, record)
}

async function downloadBackup({ context, params }: CallById): Promise<Download> {
  const record = findBackup(context.storage, params.id)
  if (record.status !== 'good') throw conflict(`the backup is ${record.status}, not good`)
  const path = fileOf(context.config.backupDir, record)
  const stats = await stat(path).catch(() => null)
  if (stats?.size === record.size_bytes) return new Download(path, stats.size, basename(path))
  throw conflict(`${path} ${stats ? 'has changed since it was verified' : 'no longer exists'}`)
}

async function deleteBackup(call: CallById): Promise<undefined> {
  const { context, params } = call
  const { actors } = context.storage
  const { id } = findBackup(context.storage, params.id)
  const restores = [...actors.active('restore')].map((restore) => actors.record<'restore'>(restore.id))
  const user = restores.find((restore) => restore?.backup_id === id)
  if (user) throw new Failure('in_use', `the restore ${user.id} of ${user.datastore} is using this backup`)
  await context.actors.send(id, command(call, 'delete'))
}
