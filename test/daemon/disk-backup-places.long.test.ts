// Backups of disks in an S3-compatible bucket: the same bytes in it and after a restore, an upload that is
// cut or outlives the daemon, and a bucket that refuses or does not answer.
import { deepEqual, equal, match } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openBucket } from '../../src/object-storage/bucket.ts'
import type { BucketOptions } from '../../src/object-storage/bucket-options.ts'
import type { Body } from '../support/daemon/api.ts'
import { createWorker } from '../support/daemon/jobs.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { until } from '../support/daemon/service.ts'
import { daemonSuite } from '../support/daemon/suite.ts'
import { namesIn, readBack } from '../support/object-storage/contents.ts'
import { startRelay } from '../support/object-storage/relay.ts'
import { startS3rver } from '../support/object-storage/s3rver.ts'
import { run } from '../support/system/command.ts'

const suite = daemonSuite()
const mebibyte = 1024 * 1024

/** Backups that begin now go there. */
async function usePlace(name: string, options: BucketOptions, changes: object = {}) {
  const { endpoint, bucket, prefix, region, keyId, secret } = options
  const key = { access_key_id: keyId, secret_access_key: secret }
  const body = { endpoint, bucket, prefix, region, path_style: true, ...key, ...changes }
  equal((await suite.api.call('PUT', `/backup-places/${name}`, body)).status, 200)
  await suite.api.post(`/backup-places/${name}/default`)
}

/** A service with 40 MiB on its disk that no compression makes smaller. */
async function createFilled(t: TestContext) {
  const service = await createWorker(t, suite.api, { disk_mount_path: '/data' })
  const inside = async (script: string) => {
    const { instances } = await suite.api.get(`/services/${service.name}/status`)
    return (await run('docker', ['exec', instances[0].name, 'sh', '-c', script])).trim()
  }
  await inside('mkdir /data/a; echo one > /data/a/file; dd if=/dev/urandom of=/data/big bs=1M count=40')
  return { ...service, inside }
}

const ended = (kind: 'backups' | 'restores', id: string) =>
  until(`${id} to end`, async () => {
    const now: Body = await suite.api.get(`/${kind}/${id}`)
    return now.finished_at !== null && now
  })

const backUp = async (name: string) => ended('backups', (await suite.api.post(`/disks/${name}/backups`)).id)

const digest = 'cd /data; find . | sort; find . -type f -exec sha256sum {} + | sort'

test('an object has the bytes of the disk, is restored, and goes with its backup', async (t) => {
  const { options } = await startS3rver(t)
  const bucket = openBucket(options)
  await usePlace('offsite', options)
  const { name, inside } = await createFilled(t)
  const before = await inside(digest)

  const { id, status, error, place, file, sha256, size_bytes: sizeBytes } = await backUp(name)

  deepEqual([status, error, place], ['good', null, 'offsite'])
  const [object, ...others] = await namesIn(bucket)
  deepEqual(others, [])
  equal(file, `s3://${options.bucket}/shop/${object}`)
  deepEqual(await readBack(bucket, object!), { sizeBytes, sha256 })

  await inside('rm /data/a/file; echo two > /data/two; echo new > /data/big')
  const begun = await suite.api.post(`/disks/${name}/restores`, { backup_id: id })
  const restored = await ended('restores', begun.id)
  deepEqual([restored.status, restored.error], ['done', null])
  equal(await until('the instance', () => inside(digest)), before)

  equal((await suite.api.call('DELETE', `/backups/${id}`)).status, 204)
  await until('the object to be gone', async () => (await namesIn(bucket)).length === 0)
})

test('an upload that is cut goes on, and one that outlives the daemon begins again', async (t) => {
  const { port, options } = await startS3rver(t)
  const bucket = openBucket(options)
  const relay = await startRelay(t, port)
  await usePlace('relayed', options, { endpoint: `http://127.0.0.1:${relay.port}` })
  const { name } = await createFilled(t)

  relay.cutAfter(20 * mebibyte, 'up')
  const cut = await backUp(name)
  deepEqual([cut.status, cut.error, relay.cuts()], ['good', null, 1])

  relay.holdAfter(20 * mebibyte)
  const { id } = await suite.api.post(`/disks/${name}/backups`)
  await until('a part to be sent', async () => {
    const { done_bytes: sent } = await suite.api.get(`/backups/${id}`)
    return sent > 16 * mebibyte
  })
  await suite.daemon.kill()
  equal((await namesIn(bucket)).length, 1)
  relay.holdAfter(Number.POSITIVE_INFINITY)
  await suite.daemon.start()
  const { status, error, file, sha256, size_bytes: sizeBytes } = await ended('backups', id)
  deepEqual([status, error], ['good', null])
  equal((await namesIn(bucket)).length, 2)
  deepEqual(await readBack(bucket, file.replace(/^.*\/shop\//, '')), { sizeBytes, sha256 })
})

test('a wrong secret, and a bucket that does not answer, are named and leave nothing', async (t) => {
  const { options } = await startS3rver(t)
  const { name } = await createFilled(t)
  const containers = async () => (await findLeftovers(suite.daemon.prefix)).containers
  const before = await containers()
  const cases: [string, object, RegExp][] = [
    ['refused', { secret_access_key: 'wrong' }, /the secret does not fit the key id$/],
    ['closed', { endpoint: 'http://127.0.0.1:9' }, /nothing listens there/],
  ]
  for (const [place, changes, reason] of cases) {
    await usePlace(place, options, changes)
    const { status, error, error_code: code } = await backUp(name)
    deepEqual([status, code], ['failed', 'backup_place_failed'], error)
    match(error, reason)
  }
  deepEqual(await namesIn(openBucket(options)), [])
  deepEqual(await containers(), before)
})
