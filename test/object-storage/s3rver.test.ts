// The same bucket with a second server, which lists no unfinished uploads: parts, cuts, a wrong clock.
import assert, { deepEqual, equal, match } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openBucket } from '../../src/object-storage/bucket.ts'
import { broken, mebibytes, namesIn, never, pieces, readBack } from '../support/object-storage/contents.ts'
import { startRelay } from '../support/object-storage/relay.ts'
import { startS3rver } from '../support/object-storage/s3rver.ts'
import { skipsS3cmd } from '../support/object-storage/swift.ts'
import { run } from '../support/system/command.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import { long } from '../support/system/drill-size.ts'

test('an object of several parts is read, listed and removed', async (t) => {
  const store = openBucket((await startS3rver(t)).options)

  const facts = await store.put('db/one.dump', mebibytes(40), never)
  await store.put('db/two.dump', pieces(), never)

  equal(facts.sizeBytes, 40 * 1024 * 1024)
  deepEqual(await readBack(store, 'db/one.dump'), facts)
  deepEqual(await namesIn(store), ['db/one.dump', 'db/two.dump'])
  for (const name of ['db/one.dump', 'db/two.dump', 'db/two.dump']) await store.remove(name, never)
  deepEqual(await namesIn(store), [])
  await assert.rejects(store.get('db/one.dump', never), { code: 'backup_failed', message: /is gone$/ })
})

long('another client reads the same bytes', { skip: skipsS3cmd }, async (t) => {
  const { port, options } = await startS3rver(t)
  const facts = await openBucket(options).put('db/one.dump', mebibytes(40), never)
  const folder = temporaryDirectory(t)
  const file = join(folder, 'file')
  const keys = ['--access_key=S3RVER', '--secret_key=S3RVER', '--no-ssl', '--region=us-east-1']
  const host = `127.0.0.1:${port}`
  const server = ['-c', join(folder, 'none'), ...keys, `--host=${host}`, `--host-bucket=${host}`]

  await run('s3cmd', [...server, 'get', 's3://berth/shop/db/one.dump', file])

  equal(createHash('sha256').update(readFileSync(file)).digest('hex'), facts.sha256)
})

test('uploads and downloads that are cut go on', async (t) => {
  const { port, options } = await startS3rver(t)
  const relay = await startRelay(t, port)
  const cut = openBucket({ ...options, endpoint: `http://127.0.0.1:${relay.port}` })

  relay.cutAfter(20 * 1024 * 1024, 'up')
  const facts = await cut.put('db/one.dump', mebibytes(40), never)
  relay.cutAfter(20 * 1024 * 1024, 'down')
  const read = await readBack(cut, 'db/one.dump')

  deepEqual(read, facts)
  equal(relay.cuts(), 2)
})

test('content that fails leaves no object', async (t) => {
  const store = openBucket((await startS3rver(t)).options)
  await assert.rejects(store.put('db/one.dump', broken(40, new Error('no more')), never), /no more/)
  deepEqual(await namesIn(store), [])
})

test('a clock that differs by hours is corrected', async (t) => {
  const store = openBucket((await startS3rver(t, { aheadSeconds: 7200 })).options)
  const facts = await store.put('a', pieces('content'), never)
  deepEqual(await readBack(store, 'a'), facts)
})

long('wrong keys and buckets are told apart', async (t) => {
  const { options } = await startS3rver(t)
  for (const [changes, message] of [
    [{ secret: 'wrong' }, /the secret does not fit the key id$/],
    [{ keyId: 'nobody' }, /the key id is not known there$/],
    [{ bucket: 'no-such-bucket' }, /there is no bucket no-such-bucket$/],
  ] as const) {
    const failure = await openBucket({ ...options, ...changes })
      .put('db/one.dump', pieces('x'), never)
      .then(
        () => null,
        (error: Error) => error,
      )
    match(failure?.message ?? '', message)
  }
})
