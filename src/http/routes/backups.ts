// Backups, which outlive what they are of, and restores: one at a time, checked when its actor is created.
import { basename } from 'node:path'
import { z } from 'zod'
import type { BackupInput, BackupRecord, BackupSubject } from '../../../machines/backup.ts'
import type { DatastoreSubject } from '../../../machines/backup-subject.ts'
import type { DatastoreRecord } from '../../../machines/datastore/datastore-record.ts'
import type { DiskTarget, RestoreInput } from '../../../machines/restore.ts'
import type { CommonRecordFields } from '../../../storage/actors/actors.ts'
import type { ServiceRow } from '../../../storage/services.ts'
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
import { DiskOrServiceParams } from '../../api/disk.ts'
import { backupFormats, folderPlace, formatOf, headBytes, recordAddress } from '../../domain/backup-files.ts'
import { codeOf, conflict, Failure, invalidRequest, messageOf } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import {
  type Call,
  type CallById,
  Download,
  del,
  get,
  post,
  tagged,
  type Upload,
  type WithHeaders,
} from '../pipeline/route.ts'
import {
  findBackup,
  findRestore,
  readBackup,
  readRestore,
  toBackup,
  toRestore,
} from '../records/backup-record.ts'
import { assertAvailable, findDatastore } from '../records/datastore-record.ts'
import { findDisk, requireDiskService } from '../records/disk-record.ts'
import { paged } from '../records/paging.ts'
import { command, requesterOf } from '../records/requester.ts'
import { storeUpload } from '../rules/upload.ts'
import { adviseOnBackup, adviseOnRestore } from '../why/advice.ts'
import { recordRoutes } from './record-routes.ts'

export const backupRoutes = tagged('Backups', [
  get('/backups', {
    role: 'read',
    summary: 'Lists all backups, including those of deleted datastores and disks, newest first',
    query: BackupsQuery,
    response: z.array(Backup),
    handler: listBackups,
  }),
  ...recordRoutes('/backups/{id}', {
    noun: 'a backup',
    params: BackupParams,
    find: findBackup,
    show: { response: Backup, read: readBackup },
    why: { advise: (backup) => adviseOnBackup(backup) },
  }),
  del('/backups/{id}', {
    summary: 'Deletes a backup and its file',
    params: BackupParams,
    problems: ['in_use'],
    handler: deleteBackup,
  }),
  get('/backups/{id}/content', {
    summary: 'Downloads the file of a verified backup: for pg_restore, an RDB file, or the .tar.gz of a disk',
    params: BackupParams,
    response: 'bytes',
    problems: ['conflict'],
    handler: downloadBackup,
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
  post('/disks/{name}/backups', {
    summary: 'Starts a backup of a disk, which is kept until it is deleted',
    description:
      'Starts a backup of a disk, which is kept until it is deleted. Instances keep running: a file ' +
      'that changes during the backup may be in it half changed.',
    params: DiskOrServiceParams,
    response: Backup,
    status: 202,
    problems: ['docker_unavailable', 'docker_error'],
    replay: readBackup,
    handler: createDiskBackup,
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
    if (!record || !isOf(record, query)) continue
    if (views.length === query.limit) return paged(call, views.map(toShown), views.at(-1)!.id)
    views.push(record)
  }
  return paged(call, views.map(toShown), null)

  function toShown(record: BackupRecord & CommonRecordFields): Backup {
    return toBackup(context, record)
  }
}

function isOf(record: BackupRecord, { datastore, disk }: BackupsQuery): boolean {
  const { kind, service_id: ownerId } = record
  if (datastore !== undefined && ![record.datastore, record.datastore_id].includes(datastore)) return false
  return disk === undefined || (kind === 'disk' && [record.disk, record.service, ownerId].includes(disk))
}

async function createBackup(call: CallById): Promise<Backup> {
  const datastore = findDatastore(call.context.storage, call.params.id)
  assertAvailable(datastore)
  const { id: datastoreId, name: datastoreName, kind, version, backup_place: place } = datastore
  return startBackup(call, { kind, datastoreId, datastoreName, version }, place)
}

async function createDiskBackup(call: Call<DiskOrServiceParams>): Promise<Backup> {
  const { name: disk, serviceId, serviceName } = await findDisk(call.context, call.params.name)
  return startBackup(call, { kind: 'disk', disk, serviceId, serviceName })
}

async function startBackup(
  { context, caller, eventId }: Pick<Call, 'caller' | 'context' | 'eventId'>,
  subject: BackupSubject,
  chosenPlace?: string | null,
): Promise<Backup> {
  const { actors, storage } = context
  const place = chosenPlace ?? storage.backupPlaces.defaultName() ?? folderPlace
  const id = storage.ids.newId('bak')
  const input: BackupInput = { id, ...subject, place, trigger: 'manual', at: new Date().toISOString() }
  const { record } = await actors.spawn('backup', id, input, {
    eventId,
    by: requesterOf({ context, caller }),
  })
  return toBackup(context, record)
}

async function downloadBackup({ context, params }: CallById): Promise<Download> {
  const record = findBackup(context.storage, params.id)
  if (record.status !== 'good') throw conflict(`the backup is ${record.status}, not good`)
  const { place, name } = recordAddress(record)
  const store = context.backupPlaces.open(place)
  const location = store.locationOf(name)
  const { sizeBytes, content } = await store
    .get(name, new AbortController().signal)
    .catch((error: unknown) => {
      throw conflict(codeOf(error) === 'backup_failed' ? `${location} no longer exists` : messageOf(error))
    })
  if (sizeBytes === record.size_bytes) return new Download(location, sizeBytes, basename(name), content)
  throw conflict(`${location} has changed since it was verified`)
}

async function deleteBackup(call: CallById): Promise<undefined> {
  const { context, params } = call
  const { actors } = context.storage
  const { id } = findBackup(context.storage, params.id)
  const restores = [...actors.active('restore')].map((restore) => actors.record<'restore'>(restore.id))
  const user = restores.find((restore) => restore?.backup_id === id)
  if (user)
    throw new Failure(
      'in_use',
      `the restore ${user.id} of ${user.datastore ?? user.service} is using this backup`,
    )
  await context.actors.send(id, command(call, 'delete'))
}

const restoreUpload = {
  mediaTypes: ['application/octet-stream'],
  limitBytes: 1024 ** 4,
  description:
    'What pg_dump -Fc, pg_dump (plain SQL, also packed with gzip) or redis-cli --rdb wrote, at most 1 TiB. ' +
    'Plain SQL is restored without owners and grants.',
}

export const restoreRoutes = tagged('Backups', [
  get('/datastores/{id}/restores', {
    role: 'read',
    summary: 'Lists the restores of a datastore, newest first',
    params: DatastoreParams,
    query: RestoresQuery,
    response: z.array(Restore),
    handler(call) {
      const { storage } = call.context
      const { id } = findDatastore(storage, call.params.id)
      const { records, next } = storage.actors.page('restore', [id], call.query)
      const restores = records.map((record) => toRestore(call.context, record))
      return paged(call, restores, next)
    },
  }),
  post('/datastores/{id}/restores', {
    summary: 'Replaces all data of a datastore with the contents of a backup',
    params: DatastoreParams,
    body: CreateRestore,
    response: Restore,
    status: 202,
    problems: ['conflict'],
    replay: readRestore,
    handler: createRestore,
  }),
  post('/datastores/{id}/restores/upload', {
    summary: 'Replaces all data of a datastore with the contents of an uploaded file',
    params: DatastoreParams,
    upload: restoreUpload,
    response: Restore,
    status: 202,
    problems: ['conflict', 'insufficient_storage'],
    replay: readRestore,
    handler: uploadRestore,
  }),
  get('/disks/{name}/restores', {
    role: 'read',
    summary: 'Lists the restores of the disk of a service, newest first',
    params: DiskOrServiceParams,
    query: RestoresQuery,
    response: z.array(Restore),
    handler(call) {
      const { id } = requireDiskService(call.context, call.params.name)
      const { records, next } = call.context.storage.actors.page('restore', [id], call.query)
      const restores = records.map((record) => toRestore(call.context, record))
      return paged(call, restores, next)
    },
  }),
  post('/disks/{name}/restores', {
    summary: 'Replaces all files of the disk of a service with those of a backup',
    description:
      'Replaces all files of the disk of a service with those of a backup. They are written to a new ' +
      'volume, and the instances stop before they start on it. The former volume goes to the trash.',
    params: DiskOrServiceParams,
    body: CreateRestore,
    response: Restore,
    status: 202,
    problems: ['conflict'],
    replay: readRestore,
    handler: createDiskRestore,
  }),
  post('/disks/{name}/restores/upload', {
    summary: 'Replaces all files of the disk of a service with those of an uploaded file',
    params: DiskOrServiceParams,
    upload: {
      mediaTypes: ['application/octet-stream'],
      limitBytes: 1024 ** 4,
      description: 'A tar archive in gzip with one folder, `disk`, at most 1 TiB.',
    },
    response: Restore,
    status: 202,
    problems: ['conflict', 'insufficient_storage'],
    replay: readRestore,
    handler: uploadDiskRestore,
  }),
  ...recordRoutes('/restores/{id}', {
    noun: 'a restore',
    params: RestoreParams,
    find: findRestore,
    show: { response: Restore, read: readRestore },
    why: { advise: (restore) => adviseOnRestore(restore) },
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
    handler: cancelRestore,
  }),
])

async function createRestore(call: CallById<unknown, CreateRestore>): Promise<Restore> {
  const { context, params, body } = call
  const datastore = findDatastore(context.storage, params.id)
  const backup = findBackup(context.storage, body.backup_id)
  if (backup.status !== 'good') throw conflict(`the backup is ${backup.status}, not good`)
  if (backup.kind !== datastore.kind) {
    throw invalidRequest(`the backup is of ${backup.kind}, ${datastore.name} is ${datastore.kind}`)
  }
  const id = context.storage.ids.newId('rst')
  return startRestore(call, ofDatastore(datastore), {
    id,
    backupId: backup.id,
    sizeBytes: backup.size_bytes!,
  })
}

const ofDatastore = ({ id, name, kind }: DatastoreRecord) => ({ kind, datastoreId: id, datastoreName: name })

async function createDiskRestore(call: Call<DiskOrServiceParams, unknown, CreateRestore>): Promise<Restore> {
  const { context, params, body } = call
  const service = requireDiskService(context, params.name)
  const backup = findBackup(context.storage, body.backup_id)
  if (backup.status !== 'good') throw conflict(`the backup is ${backup.status}, not good`)
  if (backup.kind !== 'disk') throw invalidRequest(`the backup is of ${backup.kind}, not of a disk`)
  const id = context.storage.ids.newId('rst')
  const source = { id, backupId: backup.id, sizeBytes: backup.size_bytes! }
  return startRestore(call, ofDisk(context, service, id), source)
}

async function uploadDiskRestore(call: Call<DiskOrServiceParams, unknown, Upload>): Promise<Restore> {
  const { context, params, body } = call
  const service = requireDiskService(context, params.name)
  assertNoActiveRestore(context, service.id)
  return storeUpload(context, body, {
    files: context.storage.restoreFiles,
    idPrefix: 'rst',
    headBytes,
    checkHead(head) {
      if (formatOf(head) === 'gzip') return
      const message = 'the file is not gzip: a disk takes a .tar.gz with one folder, disk'
      const problem = { path: 'body', code: 'unknown_format', message }
      throw new Failure('invalid_request', message, undefined, [problem])
    },
    start: (id, sizeBytes) =>
      startRestore(call, ofDisk(context, service, id), { id, backupId: null, sizeBytes }),
  })
}

/** The new volume is named after the restore. */
function ofDisk({ diskOf }: HttpContext, service: ServiceRow, restoreId: string): DiskTarget {
  const { id: serviceId, name: serviceName } = service
  return { kind: 'disk', disk: diskOf(service), newDisk: diskOf({ id: restoreId }), serviceId, serviceName }
}

async function uploadRestore(call: CallById<unknown, Upload>): Promise<Restore> {
  const { context, params, body } = call
  const datastore = findDatastore(context.storage, params.id)
  assertAvailable(datastore)
  assertNoActiveRestore(context, datastore.id)
  return storeUpload(context, body, {
    files: context.storage.restoreFiles,
    idPrefix: 'rst',
    headBytes,
    checkHead: (head) => assertFormat(datastore, head),
    start: (id, sizeBytes) => startRestore(call, ofDatastore(datastore), { id, backupId: null, sizeBytes }),
  })
}

/** Throws `invalid_request` with a code for the detected format. */
function assertFormat(datastore: DatastoreRecord, head: Buffer): void {
  const { kind } = datastore
  const { magic } = backupFormats[kind]
  if (head.length < magic.length) throw wrongFile(datastore, 'is too short')
  if (head.subarray(0, magic.length).equals(Buffer.from(magic))) return
  if (kind !== 'postgres') throw wrongFile(datastore, 'has an unknown format')
  const format = formatOf(head)
  if (typeof format !== 'string') throw wrongFile(datastore, format.message, format.code)
}

function wrongFile({ name, kind }: DatastoreRecord, problem: string, code = 'unknown_format'): Failure {
  const message = `the file ${problem}: ${name} takes ${backupFormats[kind].noun}`
  return new Failure('invalid_request', message, undefined, [{ path: 'body', code, message }])
}

async function startRestore(
  { context, caller, eventId }: Pick<Call, 'caller' | 'context' | 'eventId'>,
  subject: DatastoreSubject | DiskTarget,
  source: Pick<RestoreInput, 'id' | 'backupId' | 'sizeBytes'>,
): Promise<Restore> {
  const input: RestoreInput = { ...source, ...subject, at: new Date().toISOString() }
  const also = () => {
    if (subject.kind !== 'disk') assertAvailable(findDatastore(context.storage, subject.datastoreId))
    assertNoActiveRestore(context, subject.kind === 'disk' ? subject.serviceId : subject.datastoreId)
  }
  const options = { also, by: requesterOf({ context, caller }), eventId }
  const { record } = await context.actors.spawn('restore', input.id, input, options)
  return toRestore(context, record)
}

function assertNoActiveRestore({ storage }: HttpContext, ownerId: string): void {
  const [other] = storage.actors.active('restore', ownerId)
  if (other) throw conflict(`${other.id} is already restoring it`)
}

async function cancelRestore(call: CallById): Promise<Restore> {
  const { context, params } = call
  const { id, status } = findRestore(context.storage, params.id)
  const { applied, record } = await context.actors.send<'restore'>(id, command(call, 'cancel'))
  if (!applied)
    throw new Failure('not_cancelable', `the restore is ${status === 'running' ? 'switching' : status}`)
  return toRestore(context, record)
}
