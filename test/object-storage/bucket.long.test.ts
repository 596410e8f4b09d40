// A bucket of OpenStack Swift, looked at by s3cmd: whole objects, cut uploads and downloads, what is left.
import assert, { deepEqual, equal, match, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openBucket } from '../../src/object-storage/bucket.ts'
import { broken, mebibytes, namesIn, never, pieces, readBack } from '../support/object-storage/contents.ts'
import { startRelay } from '../support/object-storage/relay.ts'
import {
  bucketOptions,
  type Swift,
  skipsS3cmd,
  skipsSwift,
  startSwift,
} from '../support/object-storage/swift.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const skip = skipsSwift || skipsS3cmd
const cleanups: (() => unknown)[] = []
let swift: Swift

before(async () => {
  if (!skip) swift = await startSwift({ after: (cleanup) => cleanups.push(cleanup) })
})
after(async () => {
  for (const cleanup of cleanups) await cleanup()
})

/** As another client sees it. */
const partsIn = async (bucket: string) =>
  (await swift.s3cmd('multipart', `s3://${bucket}`)).split('\n').filter((line) => line.includes('shop/'))

async function start(t: TestContext) {
  const options = await swift.bucket()
  const relay = await startRelay(t, swift.port)
  const slow = openBucket({ ...options, endpoint: `http://127.0.0.1:${relay.port}` })
  return { options, relay, slow, store: openBucket(options) }
}

for (const size of [0, 1, 40]) {
  test(`${size} MiB are the same for another client`, { skip }, async (t) => {
    const { options, store } = await start(t)
    const file = join(temporaryDirectory(t), 'file')

    const facts = await store.put('db/one.dump', mebibytes(size), never)

    equal(facts.sizeBytes, size * 1024 * 1024)
    deepEqual(await readBack(store, 'db/one.dump'), facts)
    await swift.s3cmd('get', `s3://${options.bucket}/shop/db/one.dump`, file)
    equal(createHash('sha256').update(readFileSync(file)).digest('hex'), facts.sha256)
    deepEqual(await namesIn(store), ['db/one.dump'])
    await store.remove('db/one.dump', never)
    deepEqual(await namesIn(store), [])
    await store.remove('db/one.dump', never)
    await assert.rejects(store.get('db/one.dump', never), { code: 'backup_failed', message: /is gone$/ })
  })
}

test('content that fails leaves neither an object nor parts', { skip }, async (t) => {
  const { options, store } = await start(t)
  await assert.rejects(store.put('db/one.dump', broken(40, new Error('no more')), never), /no more/)
  deepEqual(await namesIn(store), [])
  deepEqual(await partsIn(options.bucket), [])
})

test('an aborted upload leaves neither an object nor parts', { skip }, async (t) => {
  const { options, store } = await start(t)
  const ending = new AbortController()
  async function* content() {
    yield* mebibytes(40)
    ending.abort(new Error('enough'))
    yield* mebibytes(40)
  }
  await assert.rejects(store.put('db/one.dump', content(), ending.signal), /enough/)
  deepEqual(await namesIn(store), [])
  deepEqual(await partsIn(options.bucket), [])
})

test('an upload that is cut once goes on', { skip }, async (t) => {
  const { relay, slow, store } = await start(t)
  relay.cutAfter(20 * 1024 * 1024, 'up')
  const facts = await slow.put('db/one.dump', mebibytes(40), never)
  equal(relay.cuts(), 1)
  deepEqual(await readBack(store, 'db/one.dump'), facts)
})

test('a download that is cut goes on where it was', { skip }, async (t) => {
  const { relay, slow, store } = await start(t)
  const facts = await store.put('db/one.dump', mebibytes(40), never)
  relay.cutAfter(20 * 1024 * 1024, 'down')
  deepEqual(await readBack(slow, 'db/one.dump'), facts)
  equal(relay.cuts(), 1)
})

test('a killed upload leaves no object, and its parts go with the next one', { skip }, async (t) => {
  const { options, store } = await start(t)
  const program = fileURLToPath(new URL('../support/object-storage/endless-upload.ts', import.meta.url))
  const arguments_ = ['--conditions=development', '--import', 'tsx', program, JSON.stringify(options)]
  const child = spawn(process.execPath, arguments_, { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('exit', resolve))

  equal((await partsIn(options.bucket)).length, 1)
  deepEqual(await namesIn(store), [])
  await store.put('db/other.dump', pieces('other'), never)
  equal((await partsIn(options.bucket)).length, 1)
  const facts = await store.put('db/one.dump', pieces('again'), never)

  deepEqual(await partsIn(options.bucket), [])
  deepEqual(await readBack(store, 'db/one.dump'), facts)
})

test('memory does not grow with the object', { skip }, async (t) => {
  const { store } = await start(t)
  let largest = 0
  const timer = setInterval(() => {
    largest = Math.max(largest, process.memoryUsage().arrayBuffers)
  }, 20)
  t.after(() => clearInterval(timer))
  await store.put('db/one.dump', mebibytes(600), never)
  const largestMb = Math.round(largest / 1024 / 1024)
  t.diagnostic(`${largestMb} MiB of buffers at most`)
  ok(largestMb < 300, `${largestMb} MiB`)
})

test('wrong keys, buckets and rights are told apart', { skip }, async (t) => {
  const { options } = await start(t)
  for (const [changes, message] of [
    [{ secret: 'wrong' }, /the secret does not fit the key id$/],
    [{ bucket: 'no-such-bucket' }, /there is no bucket no-such-bucket$/],
    [{ region: 'eu-central-9' }, /the region eu-central-9 is wrong$/],
    [{ keyId: 'test:reader', secret: 'reading' }, /the key has no permission to list unfinished uploads$/],
    [{ endpoint: options.endpoint.replace('http:', 'https:') }, /it does not speak TLS on this port$/],
  ] as const) {
    const store = openBucket({ ...options, ...changes })
    const failure = await store.put('db/one.dump', pieces('x'), never).then(
      () => null,
      (error: Error) => error,
    )
    match(failure?.message ?? '', message)
  }
})

test('a clock that differs by hours is corrected', { skip }, async (t) => {
  const other = await startSwift(t, { aheadSeconds: 7200 })
  const { port } = other
  await swift.bucket()
  await assert.rejects(
    openBucket(bucketOptions(port)).put('a', pieces('x'), never),
    /there is no bucket berth$/,
  )
})
