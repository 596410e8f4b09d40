// Backups of a real server in a bucket of OpenStack Swift: another client fetches one that restores, the
// schedule keeps few, and a kill and a refused key leave nothing.
import { deepEqual, equal, match } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createReadStream, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { BucketOptions } from '../../src/object-storage/bucket-options.ts'
import { createRecoveryKey } from '../../src/server-backup/keys.ts'
import { restoreServer } from '../../src/server-backup/restore.ts'
import type { Body } from '../support/daemon/api.ts'
import { startDaemon } from '../support/daemon/daemon.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'
import { signIn, signUp } from '../support/http/session.ts'
import { startRelay } from '../support/object-storage/relay.ts'
import { skipsS3cmd, skipsSwift, startSwift } from '../support/object-storage/swift.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const skip = skipsSwift || skipsS3cmd
const swift = skip ? null! : await startSwift(fileScope())

const objects = async (bucket: string) =>
  (await swift.s3cmd('ls', '--recursive', `s3://${bucket}`)).split('\n').filter((line) => line !== '')
const parts = async (bucket: string) =>
  (await swift.s3cmd('multipart', `s3://${bucket}`)).split('\n').filter((line) => line.includes('shop/'))

/** A server whose backups go to that bucket, with a recovery key and an account. */
async function startServer(
  t: TestContext,
  options: BucketOptions,
  changes: object = {},
  args: string[] = [],
) {
  const daemon = await startDaemon(t, { args: ['--server-backup-place=offsite', ...args] })
  const { endpoint, bucket, prefix, region, keyId, secret } = options
  const place = { endpoint, bucket, prefix, region, path_style: true }
  const key = { access_key_id: keyId, secret_access_key: secret }
  const put = await daemon.api.call('PUT', '/backup-places/offsite', { ...place, ...key, ...changes })
  equal(put.status, 200)
  await signUp(daemon.api.url, daemon.dataDir)
  const { key: recoveryKey } = await createRecoveryKey(daemon.dataDir)
  const session = await signIn(daemon.api.url)
  return {
    daemon,
    recoveryKey,
    bySession: (method: string, path: string) =>
      fetch(`${daemon.api.url}/api/v1${path}`, { method, headers: session }),
    ended: (id: string): Promise<Body> =>
      until(`${id} to end`, async () => {
        const backup = await daemon.api.get(`/server-backups/${id}`)
        return backup.status === 'running' ? null : backup
      }),
  }
}

test('a backup in a bucket is fetched by another client, restored and removed', { skip }, async (t) => {
  const options = await swift.bucket()
  const { daemon, recoveryKey, bySession, ended } = await startServer(t, options)
  const { id: serviceId } = await daemon.api.post('/services', { name: 'web', image: 'debian:12' })

  const started = await bySession('POST', '/server-backups')
  const { id } = (await started.json()) as { id: string }
  const { status, error, place, file, size_bytes: sizeBytes } = await ended(id)

  deepEqual([status, error, place], ['stored', null, 'offsite'])
  match(file, /^s3:\/\/bucket-\d+\/shop\/berth-\w+-\w+-\w+\.backup\.age$/)
  const path = join(temporaryDirectory(t), 'fetched.age')
  await swift.s3cmd('get', file, path)
  const target = join(temporaryDirectory(t), 'restored')
  await restoreServer(createReadStream(path), { dataDir: target, unlock: { key: recoveryKey } })
  const content = await bySession('GET', `/server-backups/${id}/content`)
  equal((await content.arrayBuffer()).byteLength, sizeBytes)
  equal(typeof serviceId, 'string')
  equal((await daemon.api.call('DELETE', '/backup-places/offsite')).body.code, 'in_use')

  equal((await bySession('DELETE', `/server-backups/${id}`)).status, 204)
  await until('the object to be gone', async () => (await objects(options.bucket)).length === 0)
})

test('a kill in the middle of the upload leaves neither parts nor a second object', { skip }, async (t) => {
  const options = await swift.bucket()
  const relay = await startRelay(t, swift.port)
  const { daemon, bySession, ended } = await startServer(t, options, {
    endpoint: `http://127.0.0.1:${relay.port}`,
  })
  mkdirSync(join(daemon.dataDir, 'logs'), { recursive: true })
  writeFileSync(join(daemon.dataDir, 'logs', 'filler'), randomBytes(40 * 1024 * 1024))

  relay.holdAfter(18 * 1024 * 1024)
  const { id } = (await (await bySession('POST', '/server-backups')).json()) as { id: string }
  await until('parts to be there', async () => (await parts(options.bucket)).length > 0)
  await daemon.kill()
  equal((await objects(options.bucket)).length, 0)
  relay.holdAfter(Number.POSITIVE_INFINITY)
  await daemon.start()

  const { status, error } = await ended(id)
  deepEqual([status, error], ['stored', null])
  deepEqual(await parts(options.bucket), [])
  equal((await objects(options.bucket)).length, 1)
})

test('the schedule keeps as many objects as it should', { skip }, async (t) => {
  const options = await swift.bucket()
  const args = ['--server-backup-schedule=* * * * *', '--server-backup-keep=1']
  const { daemon } = await startServer(t, options, {}, args)
  const stored = async () => {
    const backups: Body[] = (await daemon.api.get('/server-backups')) as never
    return backups.filter(({ status }) => status === 'stored').map(({ id }) => id as string)
  }
  const first = await until('the first backup', async () => (await stored())[0] ?? null)
  await until('the second to replace it', async () => {
    const ids = await stored()
    return ids.length === 1 && ids[0] !== first && (await objects(options.bucket)).length === 1
  })
})

test('a refused key and a place that is not there are said in plain words', { skip }, async (t) => {
  const options = await swift.bucket()
  const { daemon, bySession, ended } = await startServer(t, options, { secret_access_key: 'wrong' })
  const fails = async () =>
    ended(((await (await bySession('POST', '/server-backups')).json()) as { id: string }).id)

  const refused = await fails()
  deepEqual([refused.status, refused.error_code], ['failed', 'backup_place_failed'])
  match(refused.error, /the secret does not fit the key id$/)
  match(refused.hint, /berth backup-places test offsite/)
  equal((await daemon.api.call('DELETE', '/backup-places/offsite?force=true')).status, 204)
  const lost = await fails()
  deepEqual([lost.status, lost.error], ['failed', 'there is no backup place offsite'])
})
