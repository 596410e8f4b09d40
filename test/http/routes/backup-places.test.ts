// Backup places, over HTTP and a real store: keys are hidden, and a place in use stays where it is.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { Backup } from '../../../src/api/backup.ts'
import type { BackupPlace, BackupPlaceTest } from '../../../src/api/backup-place.ts'
import { startBackups } from '../../support/http/backup-api.ts'
import { startChecked } from '../../support/http/checked-api.ts'
import { transitionOf } from '../../support/storage/store-fixtures.ts'

const bucket = {
  endpoint: 'http://127.0.0.1:1',
  bucket: 'shop',
  prefix: 'berth',
  access_key_id: 'key',
  secret_access_key: 'canary-secret-5f2c',
}

test('a bucket is stored, shown without its secret, replaced and forgotten', async (t) => {
  const { call, storage } = await startChecked(t)

  const put = await call('PUT', '/backup-places/offsite', bucket)
  const { created_at } = put.body as BackupPlace
  const shown = {
    name: 'offsite',
    kind: 's3',
    is_default: false,
    location: 's3://shop/berth/',
    endpoint: 'http://127.0.0.1:1',
    bucket: 'shop',
    prefix: 'berth/',
    region: 'us-east-1',
    path_style: false,
    access_key_id: 'key',
    created_at,
    updated_at: created_at,
  }
  deepEqual([put.status, put.body], [200, shown])
  equal(storage.backupPlaces.get('offsite')?.secret_access_key, bucket.secret_access_key)

  const other = { ...bucket, secret_access_key: 'other', region: 'eu', path_style: true }
  equal((await call('PUT', '/backup-places/offsite', other)).body.created_at, created_at)
  equal(storage.backupPlaces.get('offsite')?.secret_access_key, 'other')
  equal((await call('DELETE', '/backup-places/offsite')).status, 204)
  equal(storage.backupPlaces.get('offsite'), null)
})

test('the folder is the first place, and the default until another is', async (t) => {
  const { call, refused } = await startChecked(t)
  const places = async () =>
    ((await call('GET', '/backup-places')).body as unknown as BackupPlace[]).map(
      ({ name, is_default: isDefault }) => `${name}${isDefault ? ' default' : ''}`,
    )
  deepEqual(await places(), ['folder default'])
  for (const name of ['one', 'two']) await call('PUT', `/backup-places/${name}`, bucket)

  await call('POST', '/backup-places/one/default')
  deepEqual(await places(), ['folder', 'one default', 'two'])
  await call('POST', '/backup-places/two/default')
  deepEqual(await places(), ['folder', 'one', 'two default'])
  deepEqual(await refused('DELETE', '/backup-places/two'), [409, 'in_use'])
  await call('POST', '/backup-places/folder/default')
  deepEqual(await places(), ['folder default', 'one', 'two'])
  deepEqual(await refused('DELETE', '/backup-places/folder'), [409, 'conflict'])
  deepEqual(await refused('DELETE', '/backup-places/none'), [404, 'not_found'])
})

for (const [what, name, changes] of [
  ['the name of the folder', 'folder', {}],
  ['a name with other letters', 'Off_site', {}],
  ['an address with a path', 'a', { endpoint: 'https://s3.example.com/bucket' }],
  ['an address with a password', 'a', { endpoint: 'https://me:pw@s3.example.com' }],
  ['another protocol', 'a', { endpoint: 'file:///etc' }],
  ['a metadata address', 'a', { endpoint: 'http://[::ffff:169.254.169.254]' }],
  ['a prefix that leads out', 'a', { prefix: '../other' }],
  ['a prefix with a slash before it', 'a', { prefix: '/other' }],
  ['an empty secret', 'a', { secret_access_key: '' }],
] as const) {
  test(`${what} is refused`, async (t) => {
    const { refused, storage } = await startChecked(t)
    const put = await refused('PUT', `/backup-places/${name}`, { ...bucket, ...changes })
    deepEqual(put.slice(0, 2), [400, 'invalid_request'])
    deepEqual(storage.backupPlaces.list(), [])
  })
}

test('a test says which step failed and why; the folder works', async (t) => {
  const { call } = await startChecked(t)
  await call('PUT', '/backup-places/offsite', bucket)

  const failed = (await call('POST', '/backup-places/offsite/test')).body as BackupPlaceTest
  const [step, ...more] = failed.steps
  deepEqual([failed.is_ok, more], [false, []])
  deepEqual([step?.step, step?.error], ['write', '127.0.0.1:1: nothing listens there'])
  ok(step?.hint)
  const folder = (await call('POST', '/backup-places/folder/test')).body as BackupPlaceTest
  deepEqual([folder.is_ok, folder.steps.map(({ step }) => step)], [true, ['write', 'read', 'list', 'remove']])
})

test('the place of backups of the server is not forgotten', async (t) => {
  const { call, refused, context, storage } = await startChecked(t)
  await call('PUT', '/backup-places/offsite', bucket)
  context.serverBackups.place = 'offsite'
  deepEqual(await refused('DELETE', '/backup-places/offsite'), [409, 'in_use'])
  context.serverBackups.place = 'folder'
  const made = transitionOf({ id: 'sbk-1', kind: 'server-backup', service_id: null }, { status: 'stored' })
  await storage.actors.create({ ...made, record: { ...made.record, place: 'offsite' } })
  deepEqual(await refused('PUT', '/backup-places/offsite', { ...bucket, bucket: 'other' }), [409, 'in_use'])
  equal((await call('DELETE', '/backup-places/offsite?force=true')).status, 204)
  deepEqual(storage.backupPlaces.list(), [])
})

test('a place in use keeps its bucket, takes a new key, and is not forgotten', async (t) => {
  const { call, refused, datastoreOf, begun, storage } = await startBackups(t)
  await call('PUT', '/backup-places/offsite', bucket)
  const unknown = { kind: 'postgres', name: 'other', backup_place: 'none' }
  deepEqual(await refused('POST', '/datastores', unknown), [400, 'invalid_request', 'backup_place invalid'])
  await datastoreOf('shop-db')

  const moved = await call('PATCH', '/datastores/shop-db', { backup_place: 'offsite' })
  equal(moved.body.backup_place, 'offsite')
  deepEqual(await refused('DELETE', '/backup-places/offsite'), [409, 'in_use'])
  const { place, file } = await begun('shop-db')
  equal(place, 'offsite')
  ok(file.startsWith('s3://shop/berth/shop-db/shop-db-'))
  equal((await call('PATCH', '/datastores/shop-db', { backup_place: '' })).body.backup_place, null)

  deepEqual(await refused('DELETE', '/backup-places/offsite'), [409, 'in_use'])
  deepEqual(await refused('PUT', '/backup-places/offsite', { ...bucket, bucket: 'other' }), [409, 'in_use'])
  equal((await call('PUT', '/backup-places/offsite', { ...bucket, secret_access_key: 'new' })).status, 200)
  equal(storage.backupPlaces.get('offsite')?.secret_access_key, 'new')
  equal((await call('DELETE', '/backup-places/offsite?force=true')).status, 204)
  const [left] = (await call('GET', '/backups')).body as unknown as Backup[]
  deepEqual([left?.place, left?.file], ['offsite', file.slice('s3://shop/berth/'.length)])
})
