// Backups of datastores and their way back.
import { z } from 'zod'
import {
  Backup,
  BackupParams,
  BackupsQuery,
  CreateRestore,
  Restore,
  RestoreParams,
  RestoresQuery,
} from '../../api/backup.ts'
import { DatastoreParams } from '../../api/datastore.ts'
import * as backups from '../handlers/data/backups.ts'
import * as restores from '../handlers/data/restores.ts'
import { del, get, post, tagged } from '../pipeline/route.ts'
import { findBackup, findRestore, readBackup, readRestore } from '../records/backup-record.ts'
import { adviseOnBackup, adviseOnRestore } from '../why/record-advice.ts'
import { historyRoute, show, whyRoute } from './record-routes.ts'

export const backupRoutes = tagged('Backups', [
  get('/backups', {
    role: 'read',
    summary: 'Lists all backups, including those of deleted datastores, newest first',
    query: BackupsQuery,
    response: z.array(Backup),
    handler: backups.listBackups,
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
    handler: backups.deleteBackup,
  }),
  get('/backups/{id}/content', {
    summary: 'Downloads the file of a verified backup: for pg_restore, or an RDB file',
    params: BackupParams,
    response: 'bytes',
    problems: ['conflict'],
    handler: backups.downloadBackup,
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
    handler: backups.createBackup,
  }),
  get('/datastores/{id}/restores', {
    role: 'read',
    summary: 'Lists the restores of a datastore, newest first',
    params: DatastoreParams,
    query: RestoresQuery,
    response: z.array(Restore),
    handler: restores.listRestores,
  }),
  post('/datastores/{id}/restores', {
    summary: 'Replaces all data of a datastore with the contents of a backup',
    params: DatastoreParams,
    body: CreateRestore,
    response: Restore,
    status: 202,
    problems: ['conflict'],
    replay: readRestore,
    handler: restores.createRestore,
  }),
  post('/datastores/{id}/restores/upload', {
    summary: 'Replaces all data of a datastore with the contents of an uploaded file',
    params: DatastoreParams,
    upload: restores.restoreUpload,
    response: Restore,
    status: 202,
    problems: ['conflict', 'insufficient_storage'],
    replay: readRestore,
    handler: restores.uploadRestore,
  }),
  get('/restores/{id}', {
    role: 'read',
    summary: 'Returns a restore',
    params: RestoreParams,
    response: Restore,
    handler: show(readRestore),
  }),
  post('/restores/{id}/cancel', {
    summary: 'Cancels a restore that has not started to switch; the data stays unchanged',
    description:
      'Cancels a restore that has not started to switch. The datastore keeps its data. Returns 202, ' +
      'because the prepared data is still being removed: the status is `undoing`, then `canceled`.',
    params: RestoreParams,
    response: Restore,
    status: 202,
    problems: ['not_cancelable'],
    acceptsIdempotencyKey: false,
    handler: restores.cancelRestore,
  }),
  historyRoute('/restores/{id}', {
    params: RestoreParams,
    summary: 'Lists the transitions of a restore',
    find: findRestore,
  }),
  whyRoute('/backups/{id}', {
    params: BackupParams,
    summary: 'Explains why a backup failed, and what to do about it',
    find: findBackup,
    advise: (backup) => adviseOnBackup(backup),
  }),
  whyRoute('/restores/{id}', {
    params: RestoreParams,
    summary: 'Explains why a restore failed, and what to do about it',
    find: findRestore,
    advise: (restore) => adviseOnRestore(restore),
  }),
])
