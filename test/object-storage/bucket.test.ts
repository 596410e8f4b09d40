// A bucket whose server answers wrongly, slowly or not at all.
import assert, { deepEqual, equal, match } from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { type TestContext, test } from 'node:test'
import { openBucket } from '../../src/object-storage/bucket.ts'
import type { BucketOptions } from '../../src/object-storage/bucket-options.ts'
import { never, pieces, readBack } from '../support/object-storage/contents.ts'
import { bucketOptions } from '../support/object-storage/swift.ts'

async function serve(t: TestContext, answer: RequestListener, changes: Partial<BucketOptions> = {}) {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return openBucket(bucketOptions((server.address() as { port: number }).port, changes))
}

const xml =
  (status: number, body: string): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/xml' }).end(body)

const problem = (status: number, code: string, message = 'x') =>
  xml(status, `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`)

const html: RequestListener = (_, response) =>
  response.writeHead(404, { 'content-type': 'text/html' }).end('<html><h1>Nothing here</h1>')

for (const [what, answer, message] of [
  ['a key id that is unknown', problem(403, 'InvalidAccessKeyId'), /: the key id is not known there$/],
  ['a wrong secret', problem(403, 'SignatureDoesNotMatch'), /: the secret does not fit the key id$/],
  ['a missing right', problem(403, 'AccessDenied'), /: the key has no permission to list$/],
  ['a missing bucket', problem(404, 'NoSuchBucket'), /: there is no bucket berth$/],
  ['another region', problem(301, 'PermanentRedirect'), /: the bucket is not in the region us-east-1$/],
  [
    'clocks that differ',
    problem(403, 'RequestTimeTooSkewed'),
    /: the clocks differ too much, it is .* there and .* here$/,
  ],
  ['a web page', html, /: it answers with status 404 and a page instead of data of S3$/],
  [
    'an error that it invented',
    problem(400, 'Strange', '\u001b[31mred'),
    /: cannot list: status 400, Strange red$/,
  ],
] as const) {
  test(`${what} is said in plain words`, async (t) => {
    const store = await serve(t, answer)
    const listing = store.list('', never)[Symbol.asyncIterator]().next()
    const failure = await listing.then(
      () => null,
      (error: Error & { code: string }) => error,
    )
    equal(failure?.code, 'backup_place_failed')
    match(failure?.message ?? '', message)
  })
}

for (const [piece, why] of [
  ['<Contents><Key>a</Key></Contents>', 'has more than 20000 tags and entities'],
  ['&amp;', 'has more than 20000 tags and entities'],
  [`<Key>${'a'.repeat(500)}</Key>`, 'is larger than 512 KiB'],
] as const)
  test(`an answer of ${piece.slice(0, 20)} without an end is cut before it is parsed`, async (t) => {
    await cutsAnswer(t, piece, why)
  })

async function cutsAnswer(t: TestContext, piece: string, why: string): Promise<void> {
  let sentBytes = 0
  const store = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/xml' })
    const send = () => {
      while (!response.closed && response.write(piece.repeat(1000))) sentBytes += 1000 * piece.length
    }
    response.on('drain', send)
    send()
  })
  const listing = store.list('', never)[Symbol.asyncIterator]().next()
  await assert.rejects(listing, {
    code: 'backup_place_failed',
    message: `127.0.0.1: its answer ${why}`,
  })
  assert.ok(sentBytes < 64 * 1024 * 1024, `${sentBytes} bytes were read`)
}

test('pages without an end are not all read', async (t) => {
  const page = '<ListBucketResult><NextContinuationToken>more</NextContinuationToken></ListBucketResult>'
  const store = await serve(t, xml(200, page))
  const listing = store.list('', never)[Symbol.asyncIterator]().next()
  await assert.rejects(listing, { code: 'backup_place_failed', message: /more than 5000 pages/ })
})

test('a server that does not answer is given up', async (t) => {
  const store = await serve(t, () => {}, { silentMs: 100 })
  const listing = store.list('', never)[Symbol.asyncIterator]().next()
  await assert.rejects(listing, { code: 'backup_place_failed', message: /: it does not answer$/ })
})

test('a port where nothing listens is named', async () => {
  const listing = openBucket(bucketOptions(1)).list('', never)[Symbol.asyncIterator]().next()
  await assert.rejects(listing, { message: /^127\.0\.0\.1:1: nothing listens there$/ })
})

for (const endpoint of [
  'http://169.254.169.254',
  'http://[::ffff:169.254.169.254]',
  'http://[fd00:ec2::254]',
]) {
  test(`no request is sent to ${endpoint}`, async () => {
    const listing = openBucket(bucketOptions(1, { endpoint })).list('', never)[Symbol.asyncIterator]().next()
    await assert.rejects(listing, { code: 'invalid_request', message: /link-local or metadata address/ })
  })
}

test('an upload that a proxy answers with a page is found when it is read back', async (t) => {
  const page: RequestListener = (request, response) => {
    request.resume()
    const body = request.url?.includes('uploads') ? '<ListMultipartUploadsResult/>' : '<html>'
    response.writeHead(200, { 'content-type': 'text/html' }).end(body)
  }
  const store = await serve(t, page)
  const written = await store.put('a/1', pieces('content'), never)
  const read = await readBack(store, 'a/1')
  assert.notDeepEqual(read, written)
})

test('an aborted request throws the reason', async (t) => {
  const ending = new AbortController()
  const store = await serve(t, () => ending.abort(new Error('enough')))
  await assert.rejects(store.remove('a/1', ending.signal), /enough/)
})

test('the content is asked for nothing before the server accepts', async (t) => {
  const asked: string[] = []
  async function* content() {
    asked.push('asked')
    yield Buffer.from('x')
  }
  const store = await serve(t, problem(404, 'NoSuchBucket'))
  await assert.rejects(store.put('a/1', content(), never), { message: /there is no bucket berth/ })
  deepEqual(asked, [])
})
