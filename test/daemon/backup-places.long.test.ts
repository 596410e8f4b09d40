// Backups of a real datastore in a bucket of OpenStack Swift: the same data for another client and after a
// restore, a kill in the middle of the upload, and a bucket that cannot be reached.
import { deepEqual, equal, match } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { BucketOptions } from '../../src/object-storage/bucket-options.ts'
import type { Body } from '../support/daemon/api.ts'
import { openDatastoreSite } from '../support/daemon/datastores.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'
import { startRelay } from '../support/object-storage/relay.ts'
import { skipsS3cmd, skipsSwift, startSwift } from '../support/object-storage/swift.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const skip = skipsSwift || skipsS3cmd
const scope = fileScope()
const site = await openDatastoreSite(scope)
const swift = skip ? null! : await startSwift(scope)

const rows = 400_000
const digest = "select count(*) || ' ' || md5(string_agg(id || word, ',' order by id)) from things"

async function addPlace(name: string, options: BucketOptions, changes: object = {}) {
  const { endpoint, bucket, prefix, region } = options
  const key = { access_key_id: options.keyId, secret_access_key: options.secret }
  const body = { endpoint, bucket, prefix, region, path_style: true, ...key, ...changes }
  equal((await site.api.call('PUT', `/backup-places/${name}`, body)).status, 200)
}

async function createFilled(name: string, place: string) {
  const datastore = await site.create({ kind: 'postgres', name, backup_place: place })
  const hashes = [1, 3, 7, 9].map((factor) => `md5((g * ${factor})::text)`)
  const words = `select g as id, ${hashes.join(' || ')} as word`
  await site.psql(
    datastore.external_url,
    `create table things as ${words} from generate_series(1, ${rows}) g`,
  )
  return datastore
}

const listed = async (bucket: string) =>
  (await swift.s3cmd('ls', '--recursive', `s3://${bucket}`)).split('\n').filter((line) => line !== '')
const parts = async (bucket: string) =>
  (await swift.s3cmd('multipart', `s3://${bucket}`)).split('\n').filter((line) => line.includes('shop/'))

test('a backup in a bucket is read by another client, restored and removed', { skip }, async (t) => {
  const options = await swift.bucket()
  await addPlace('offsite', options)
  deepEqual((await site.api.post('/backup-places/offsite/test')).is_ok, true)
  const { external_url: url } = await createFilled('ledger', 'offsite')
  const before = await site.psql(url, digest)

  const { id, place, file, sha256, size_bytes } = await site.backUp('ledger')
  equal(place, 'offsite')
  const path = join(temporaryDirectory(t), 'dump')
  await swift.s3cmd('get', file, path)
  const content = readFileSync(path)
  deepEqual([content.length, createHash('sha256').update(content).digest('hex')], [size_bytes, sha256])

  await site.psql(url, 'delete from things where id % 3 = 0')
  const { id: restoreId } = await site.api.post('/datastores/ledger/restores', { backup_id: id })
  const restored = await site.ended('restores', restoreId)
  deepEqual([restored.status, restored.error], ['done', null])
  equal(await site.psql(url, digest), before)

  equal((await site.api.call('DELETE', `/backups/${id}`)).status, 204)
  await until('the object to be gone', async () => (await listed(options.bucket)).length === 0)
})

test('a kill in the middle of the upload leaves neither parts nor a second object', { skip }, async (t) => {
  const options = await swift.bucket()
  const relay = await startRelay(t, swift.port)
  await addPlace('killed', options, { endpoint: `http://127.0.0.1:${relay.port}` })
  await createFilled('orders', 'killed')

  relay.holdAfter(18 * 1024 * 1024)
  const { id } = await site.api.post('/datastores/orders/backups')
  await until('parts to be there', async () => (await parts(options.bucket)).length > 0)
  await site.daemon.kill()
  equal((await listed(options.bucket)).length, 0)
  relay.holdAfter(Number.POSITIVE_INFINITY)
  await site.daemon.start()

  const backup: Body = await site.ended('backups', id)
  deepEqual([backup.status, backup.error], ['good', null])
  deepEqual(await parts(options.bucket), [])
  equal((await listed(options.bucket)).length, 1)
})

test('a backup to a bucket that refuses the key fails with the reason', { skip }, async () => {
  const options = await swift.bucket()
  await addPlace('refused', options, { secret_access_key: 'wrong' })
  await site.create({ kind: 'postgres', name: 'refused', backup_place: 'refused' })

  const { id } = await site.api.post('/datastores/refused/backups')
  const { status, error, error_code: code } = await site.ended('backups', id)

  deepEqual([status, code], ['failed', 'backup_place_failed'])
  match(error, /the secret does not fit the key id$/)
})
