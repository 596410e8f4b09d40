// The HTTP server over real sockets: response headers, bodies and the stop.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type TestContext, test } from 'node:test'
import { CreateService } from '../../../src/api/service.ts'
import { openApi } from '../../../src/http/pipeline/api.ts'
import { type Route, route } from '../../../src/http/pipeline/route.ts'
import { addressOf } from '../../../src/http/server/exchange.ts'
import { openServer } from '../../../src/http/server/server.ts'
import { createContext, head, raw, startApi, token } from '../../support/http/http-context.ts'
import { eventually, silentLogger, temporaryStorage } from '../../support/supervisor/supervision.ts'

const credential = `Authorization: Bearer ${token}`

test('every response has the security headers', async (t) => {
  const api = await startApi(t)
  const paths = ['/healthz', '/api/v1/info', '/api/v1/nothing', '/nothing', '/api/v1/services/x']

  for (const path of paths) {
    const { headers } = await api.call('GET', path)
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.match(headers.get('content-security-policy')!, /frame-ancestors 'none'/)
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('berth-version'), '0.0.0-test')
    assert.match(headers.get('x-request-id')!, /^[0-9a-f]{12}-[0-9a-z]+$/)
  }
})

test('only the edge chooses the id of a request, and only a plain one', async (t) => {
  const api = await startApi(t, { edgeSecret: 'secret' })
  const idFor = async (secret: string, id: string) => {
    const headers = { 'x-berth-edge': secret, 'x-request-id': id }
    return (await api.call('GET', '/healthz', { headers })).headers.get('x-request-id')
  }

  assert.equal(await idFor('secret', 'a-1'), 'a-1')
  for (const [secret, id] of [
    ['guess', 'a-1'],
    ['secret', ''],
    ['secret', 'a b'],
    ['secret', 'a'.repeat(65)],
  ]) {
    assert.match((await idFor(secret!, id!))!, /^[0-9a-f]{12}-[0-9a-z]+$/)
  }
})

test('invalid JSON and a wrong content type are distinguished, and the body is not repeated', async (t) => {
  const api = await startApi(t)
  const post = (body: string, headers = {}) => api.call('POST', '/api/v1/services', { body, headers })

  const broken = await post('{"name": "s3cret')
  const form = await post('name=s3cret', { 'content-type': 'application/x-www-form-urlencoded' })
  const packed = await post('s3cret', { 'content-encoding': 'gzip' })

  assert.deepEqual([broken.status, broken.body.code], [400, 'invalid_request'])
  assert.deepEqual([form.status, form.body.code], [415, 'unsupported_media_type'])
  assert.deepEqual([packed.status, packed.body.code], [415, 'unsupported_media_type'])
  for (const { text } of [broken, form, packed]) assert.doesNotMatch(text, /s3cret/)
})

test('a POST without body or type is not a form: the type is required only with a body', async (t) => {
  const api = await startApi(t)

  const bare = await api.raw(head('POST /api/v1/services', 'Host: localhost', credential))

  assert.match(bare.text, /^HTTP\/1\.1 400 .*"path":"name","code":"required"/s)
})

/** A server with one route that answers when the test lets it. */
async function startHeld(t: TestContext) {
  const storage = await temporaryStorage(t)
  let release: (() => void) | null = null
  const heldRoute: Route = route({
    method: 'POST',
    path: '/held',
    credential: 'public',
    summary: 'Waits',
    body: CreateService,
    response: CreateService,
    handler: () =>
      new Promise<never>((resolve) => {
        release = () => resolve({} as never)
      }),
  })
  const options = { host: '127.0.0.1', port: 0, logger: silentLogger, table: [heldRoute] }
  const server = await openApi(createContext(storage), options)
  t.after(() => server.stop(0))
  const body = '{"name":"web"}'
  const request = head('POST /held', 'Host: localhost', `Content-Length: ${body.length}`) + body
  return {
    server,
    request,
    begun: () => eventually('the handler began', () => release),
    release: () => release?.(),
  }
}

test('a stop waits for open requests, refuses new connections, and ends in order', async (t) => {
  const { server, request, begun, release } = await startHeld(t)
  const response = raw(server.port, request)
  await begun()

  const stopping = server.stop(10_000)
  const refused = await raw(server.port, head('GET /held', 'Host: localhost'))
  release()
  await stopping

  assert.deepEqual(refused, { text: '', isClosed: true })
  assert.match((await response).text, /^HTTP\/1\.1 200 /)
})

test('a stop does not wait longer than its deadline', async (t) => {
  const { server, request, begun } = await startHeld(t)
  const response = raw(server.port, request)
  await begun()

  await server.stop(50)

  assert.deepEqual(await response, { text: '', isClosed: true })
})

test('a client that disconnects before its response does no harm', async (t) => {
  const { server, request, begun, release } = await startHeld(t)
  const socket = connect(server.port, '127.0.0.1')
  socket.write(request)
  await begun()

  socket.destroy()
  release()

  assert.match((await raw(server.port, head('OPTIONS /held', 'Host: localhost'))).text, /^HTTP\/1\.1 204 /)
})

test('a port in use is an error, not shared', async (t) => {
  const api = await startApi(t)
  const again = openApi(api.context, { host: '127.0.0.1', port: api.server.port, logger: silentLogger })

  await assert.rejects(again, { code: 'address_in_use' })
})

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex')).buffer

test('four bytes are an IPv4 address, and so are sixteen with a mapped one; none are no address', () => {
  assert.equal(addressOf(bytes('c0000207')), '192.0.2.7')
  assert.equal(addressOf(bytes('00000000000000000000ffffc0000207')), '192.0.2.7')
  assert.equal(addressOf(new ArrayBuffer(0)), '')
})

/** A server that responds with the address of the client. */
async function start(t: TestContext, host: string) {
  const { port, stop } = await openServer({
    host,
    port: 0,
    targets: new Map(),
    listener: (_, request, response) => response.send(200, [], request.address()),
  })
  t.after(() => stop(0))
  return async (name: string) => (await fetch(`http://${name}:${port}/`)).text()
}

test('on an IPv4 socket a peer is identified by its IPv4 address', async (t) => {
  const ask = await start(t, '127.0.0.1')

  assert.equal(await ask('127.0.0.1'), '127.0.0.1')
})

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === 'IPv6'))

test('on a dual-stack socket too', { skip: !hasIpv6 && 'no IPv6 here' }, async (t) => {
  const ask = await start(t, '::')

  assert.equal(await ask('127.0.0.1'), '127.0.0.1')
  assert.equal(await ask('[::1]'), '0000:0000:0000:0000:0000:0000:0000:0001')
})
