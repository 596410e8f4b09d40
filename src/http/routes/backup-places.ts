// The places where backups are kept. Responses are built field by field: they never contain the secret.
import { z } from 'zod'
import type { BackupPlace as StoredPlace } from '../../../storage/backup-places.ts'
import { isInternal, plainAddress } from '../../address-classes.ts'
import {
  BackupPlace,
  BackupPlaceParams,
  BackupPlaceTest,
  isPlaceName,
  PutBackupPlace,
  RemoveBackupPlaceQuery,
} from '../../api/backup-place.ts'
import { folderPlace } from '../../domain/backup-files.ts'
import { Failure, invalidField, notFound } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type Call, del, get, post, put, tagged } from '../pipeline/route.ts'

export const backupPlaceRoutes = tagged('Backup places', [
  get('/backup-places', {
    role: 'read',
    summary: 'Lists the places where backups are kept; the first is the folder of the server',
    response: z.array(BackupPlace),
    handler: ({ context }) => [folderOf(context), ...context.storage.backupPlaces.list().map(toPlace)],
  }),
  get('/backup-places/{name}', {
    role: 'read',
    summary: 'Returns a backup place',
    params: BackupPlaceParams,
    response: BackupPlace,
    handler: ({ context, params }) => findPlace(context, params.name),
  }),
  put('/backup-places/{name}', {
    summary: 'Adds a bucket as a backup place, or changes its key',
    description:
      'Adds a bucket as a backup place, or changes it. While backups or datastores use it, its endpoint, ' +
      'bucket and prefix stay. Nothing is sent to it: test it afterwards.',
    params: BackupPlaceParams,
    body: PutBackupPlace,
    problems: ['in_use'],
    response: BackupPlace,
    handler: putPlace,
  }),
  post('/backup-places/{name}/test', {
    summary: 'Writes, reads, lists and removes a small object',
    params: BackupPlaceParams,
    response: BackupPlaceTest,
    acceptsIdempotencyKey: false,
    handler({ context, params }) {
      findPlace(context, params.name)
      return context.backupPlaces.test(params.name)
    },
  }),
  post('/backup-places/{name}/default', {
    summary: 'Makes it the place of backups that choose none',
    params: BackupPlaceParams,
    response: BackupPlace,
    acceptsIdempotencyKey: false,
    async handler({ context, params }) {
      findPlace(context, params.name)
      await context.storage.backupPlaces.makeDefault(params.name === folderPlace ? null : params.name)
      return findPlace(context, params.name)
    },
  }),
  del('/backup-places/{name}', {
    summary: 'Forgets a backup place; the bucket and its objects stay',
    params: BackupPlaceParams,
    query: RemoveBackupPlaceQuery,
    problems: ['in_use', 'conflict'],
    handler: removePlace,
  }),
])

type Putting = Call<BackupPlaceParams, unknown, PutBackupPlace>

async function putPlace({ context, params, body }: Putting): Promise<BackupPlace> {
  const { name } = params
  const { backupPlaces } = context.storage
  if (name === folderPlace || !isPlaceName(name)) {
    const rule = `must be 1 to 63 lower-case letters, digits and hyphens, and not ${folderPlace}`
    throw invalidField('name', rule)
  }
  const { origin: endpoint, hostname } = new URL(body.endpoint)
  const literal = plainAddress(hostname)
  if (literal !== null && isInternal(literal))
    throw invalidField('endpoint', 'is a link-local or metadata address')
  const prefix = body.prefix === '' || body.prefix.endsWith('/') ? body.prefix : `${body.prefix}/`
  const place = { ...body, name, endpoint, prefix }
  const known = backupPlaces.list().find((one) => one.name === name)
  const isMoved =
    known && (['endpoint', 'bucket', 'prefix'] as const).some((key) => known[key] !== place[key])
  if (isMoved) assertUnused(context, name, 'add the new bucket under another name')
  return toPlace(await backupPlaces.put(place, new Date().toISOString()))
}

type Removing = Call<BackupPlaceParams, RemoveBackupPlaceQuery>

async function removePlace({ context, params, query }: Removing): Promise<undefined> {
  const { name, is_default: isDefault } = findPlace(context, params.name)
  if (name === folderPlace) throw new Failure('conflict', 'the folder of the server is always there')
  if (isDefault) {
    const hint = `berth backup-places default ${folderPlace}`
    throw new Failure('in_use', `${name} is the place of backups that choose none`, hint)
  }
  if (!query.force)
    assertUnused(context, name, 'berth db backups --rm ID, berth db update NAME --backup-place folder')
  await context.storage.backupPlaces.remove(name)
}

/** Throws `in_use` with the first user. */
function assertUnused({ storage, serverBackups }: HttpContext, name: string, hint: string): void {
  if (serverBackups.place === name) {
    const change = 'start berthd with another --server-backup-place'
    throw new Failure('in_use', `the backups of the server go to ${name}`, change)
  }
  const { actors } = storage
  for (const { id } of actors.active('datastore')) {
    const datastore = actors.record<'datastore'>(id)
    if (datastore?.backup_place === name)
      throw new Failure('in_use', `the backups of ${datastore.name} go to ${name}`, hint)
  }
  for (const { id } of actors.active('backup')) {
    const backup = actors.record<'backup'>(id)
    if (backup?.place === name && backup.status !== 'failed')
      throw new Failure('in_use', `${name} has the backup ${id} of ${backup.datastore}`, hint)
  }
  for (const { id } of actors.active('server-backup')) {
    const backup = actors.record<'server-backup'>(id)
    if (backup?.place === name && backup.status !== 'failed')
      throw new Failure('in_use', `${name} has the backup ${id} of the server`, hint)
  }
}

function findPlace(context: HttpContext, name: string): BackupPlace {
  if (name === folderPlace) return folderOf(context)
  const place = context.storage.backupPlaces.get(name)
  if (place) return toPlace(place)
  throw notFound(`there is no backup place '${name}'`, 'berth backup-places lists them')
}

function folderOf({ config, storage }: HttpContext): BackupPlace {
  return {
    name: folderPlace,
    kind: 'folder',
    is_default: storage.backupPlaces.defaultName() === null,
    location: config.backupDir,
    endpoint: null,
    bucket: null,
    prefix: null,
    region: null,
    path_style: null,
    access_key_id: null,
    created_at: null,
    updated_at: null,
  }
}

function toPlace(place: StoredPlace): BackupPlace {
  const { secret_access_key: _secret, ...shown } = place
  return { ...shown, kind: 's3', location: `s3://${place.bucket}/${place.prefix}` }
}
