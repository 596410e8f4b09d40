// Rejected request heads, and the handling of methods and paths, over real sockets.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { head, startApi, token } from '../../support/http/http-context.ts'

const credential = `Authorization: Bearer ${token}`

test('an ambiguous request head is rejected and the connection closed', async (t) => {
  const api = await startApi(t)
  const get = (...lines: string[]) => head('GET /healthz', ...lines)
  const post = (...lines: string[]) => head('POST /healthz', 'Host: localhost', ...lines)
  const ambiguous = {
    'two hosts': get('Host: localhost', 'Host: localhost'),
    'an empty host': get('Host: '),
    'no host': get('Accept: */*'),
    'two lengths': post('Content-Length: 3', 'Content-Length: 4'),
    'the same length twice': post('Content-Length: 0', 'Content-Length: 0'),
    'an encoding before chunked': post('Transfer-Encoding: gzip, chunked'),
    'chunked twice': post('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'),
    'length and encoding': post('Transfer-Encoding: chunked', 'Content-Length: 3'),
    'a length with a sign': post('Content-Length: +3'),
  }

  for (const [name, text] of Object.entries(ambiguous)) {
    const response = await api.raw(text)
    assert.match(response.text, /^HTTP\/1\.1 400 /, name)
    assert.ok(response.isClosed, `${name}: the connection stays open`)
  }
})

test('nothing after a rejected head is parsed as a request', async (t) => {
  const api = await startApi(t)
  const smuggled = head('GET /healthz', 'Host: localhost')

  const response = await api.raw(
    head('POST /healthz', 'Host: localhost', 'Transfer-Encoding: gzip, chunked') + smuggled,
  )

  assert.equal(response.text.match(/HTTP\/1\.1/g)?.length, 1)
})

test('a head of ten thousand characters is accepted, an address of three thousand is rejected', async (t) => {
  const api = await startApi(t)

  const wide = await api.raw(head('GET /healthz', 'Host: localhost', `X-Wide: ${'a'.repeat(10_000)}`))
  const long = await api.raw(head(`GET /healthz?${'a'.repeat(3000)}`, 'Host: localhost'))

  assert.match(wide.text, /^HTTP\/1\.1 200 .*ok$/s)
  assert.match(long.text, /^HTTP\/1\.1 400 .*at most 2048 characters/s)
})

test('parameters with broken escapes and NULs are 400, encoded ones are decoded', async (t) => {
  const api = await startApi(t)

  for (const id of ['%zz', '%00', 'a%00b', '%ff', '%']) {
    const { status, body } = await api.call('GET', `/api/v1/services/${id}`)
    assert.deepEqual([id, status, body.code], [id, 400, 'invalid_request'])
  }
  const { status } = await api.call('GET', '/api/v1/services/%77eb')
  assert.equal(status, 404)
})

test('an unsupported method of a path is 405 with Allow, whatever its name', async (t) => {
  const api = await startApi(t)

  for (const method of ['POST', 'PURGE', 'TRACE', 'get']) {
    const response = await api.raw(head(`${method} /api/v1/info`, 'Host: localhost', credential))
    assert.match(response.text, /^HTTP\/1\.1 405 .*Allow: GET, HEAD, OPTIONS\r\n/s, method)
  }
})

test('OPTIONS lists the methods, HEAD responds like GET without a body', async (t) => {
  const api = await startApi(t)

  const options = await api.call('OPTIONS', '/api/v1/services/x')
  const get = await api.call('GET', '/api/v1/services')
  const response = await api.call('HEAD', '/api/v1/services')

  assert.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, PATCH, DELETE, HEAD, OPTIONS'])
  assert.deepEqual([response.status, response.text], [200, ''])
  assert.equal(response.headers.get('content-length'), String(get.text.length))
})

test('a stream rejects HEAD', async (t) => {
  const api = await startApi(t)

  const response = await api.call('HEAD', '/api/v1/events')

  assert.deepEqual([response.status, response.headers.get('allow')], [405, 'GET, OPTIONS'])
})
