// Backups of the whole server. Only a session may start, read or delete one: a stolen token must not be
// enough to carry the server away.

import { z } from 'zod'
import type { ServerBackupRecord } from '../../../machines/server-backup.ts'
import type { CommonRecordFields } from '../../../storage/actors/actors.ts'
import { CreateServerBackup, ServerBackup, ServerBackupParams } from '../../api/server-backup.ts'
import { serverBackupName } from '../../domain/backup-files.ts'
import { assertNoneRuns, listServerBackups } from '../../domain/server-backups.ts'
import { codeOf, conflict, messageOf } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type Call, type CallById, Download, del, get, post, tagged } from '../pipeline/route.ts'
import { command, requesterOf } from '../records/requester.ts'
import { finder } from '../records/stored-record.ts'
import { adviseOnServerBackup, failureOf } from '../why/advice.ts'
import { recordRoutes } from './record-routes.ts'

const findServerBackup = finder<'server-backup'>('sbk', 'backup of the server')

export const serverBackupRoutes = tagged('Backups', [
  get('/server-backups', {
    role: 'read',
    summary: 'Lists the backups of the whole server, newest first',
    response: z.array(ServerBackup),
    handler: ({ context }) =>
      listServerBackups(context.storage).map((record) => toServerBackup(context, record)),
  }),
  ...recordRoutes('/server-backups/{id}', {
    noun: 'a backup of the server',
    params: ServerBackupParams,
    find: findServerBackup,
    show: { response: ServerBackup, read: readServerBackup },
  }),
  post('/server-backups', {
    credential: 'session',
    summary: 'Starts an encrypted backup of the whole server',
    body: CreateServerBackup,
    response: ServerBackup,
    status: 202,
    problems: ['conflict'],
    replay: readServerBackup,
    handler: createServerBackup,
  }),
  get('/server-backups/{id}/content', {
    credential: 'session',
    summary: 'Downloads the encrypted file of a stored backup of the server',
    params: ServerBackupParams,
    response: 'bytes',
    problems: ['conflict'],
    handler: downloadServerBackup,
  }),
  del('/server-backups/{id}', {
    credential: 'session',
    summary: 'Deletes a backup of the server and its file',
    params: ServerBackupParams,
    async handler(call: CallById) {
      const { id } = findServerBackup(call.context.storage, call.params.id)
      await call.context.actors.send(id, command(call, 'delete'))
      return undefined
    },
  }),
])

type StoredRecord = ServerBackupRecord & CommonRecordFields

function toServerBackup({ serverBackups: { places } }: HttpContext, record: StoredRecord): ServerBackup {
  return {
    ...record,
    // Records of earlier versions have none.
    data: record.data ?? [],
    ...failureOf(record, adviseOnServerBackup(record)),
    status: record.status as ServerBackup['status'],
    file: places.locationOf(record.place, record.file),
  }
}

function readServerBackup(context: HttpContext, id: string): ServerBackup {
  return toServerBackup(context, findServerBackup(context.storage, id))
}

async function createServerBackup(call: Call<unknown, unknown, CreateServerBackup>): Promise<ServerBackup> {
  const { context, eventId, body } = call
  const { storage, config, serverBackups } = context
  const freshData = (['datastores', 'disks'] as const).filter((what) => body[what])
  const id = storage.ids.newId('sbk')
  const at = new Date().toISOString()
  const file = serverBackupName(config.prefix, at, id)
  const input = { id, trigger: 'manual', file, place: serverBackups.place, freshData, at }
  const also = () => assertNoneRuns(storage)
  const options = { also, eventId, by: requesterOf(call) }
  const { record } = await context.actors.spawn('server-backup', id, input, options)
  return toServerBackup(context, record)
}

async function downloadServerBackup({ context, params }: CallById): Promise<Download> {
  const { status, place, file, size_bytes } = findServerBackup(context.storage, params.id)
  if (status !== 'stored') throw conflict(`the backup is ${status}, not stored`)
  const { places } = context.serverBackups
  const location = places.locationOf(place, file)
  const { sizeBytes, content } = await places
    .open(place)
    .get(file, new AbortController().signal)
    .catch((error: unknown) => {
      throw conflict(codeOf(error) === 'backup_failed' ? `${location} no longer exists` : messageOf(error))
    })
  if (sizeBytes === size_bytes) return new Download(location, sizeBytes, file, content)
  throw conflict(`${location} has changed since it was checked`)
}
