// Messages over the WebSocket of a shell, mostly a datastore's: what passes, and which message is the last.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '../../../src/errors.ts'
import type { Logger } from '../../../src/logger.ts'
import { token } from '../../support/http/http-context.ts'
import {
  bearer,
  openShellApi,
  pathOf,
  start,
  storeDatastore,
  type WsClient,
} from '../../support/http/shell-api.ts'
import { eventually, silentLogger } from '../../support/supervisor/supervision.ts'

test('arguments, input and sizes go in; both outputs and the exit code come out', async (t) => {
  const { open } = await openShellApi(t)
  const { ws, client } = await open()
  const terminal = { name: 'xterm', cols: 80, rows: 24 }
  ws.send({ type: 'start', words: ['-c', 'select 1'], terminal })
  ws.socket.send(Buffer.from('ünö'))
  ws.send({ type: 'resize', cols: 100, rows: 50 })
  ws.send({ type: 'eof' })
  await eventually('all of it', () => client.start && client.calls.length === 2)
  assert.deepEqual(client.start, {
    args: ['-c', 'select 1'],
    terminal: { name: 'xterm', columns: 80, rows: 24 },
  })
  assert.deepEqual([client.input.map(String), client.calls], [['ünö'], ['resize 100 50', 'end']])
  assert.deepEqual(ws.received, [])

  client.take()
  client.events!.wrote('stdout', Buffer.from('out'))
  client.events!.wrote('stderr', Buffer.from('err'))
  client.events!.ended(3)

  assert.equal(await ws.closed(), 1000)
  assert.deepEqual(ws.received, [{ type: 'taken', bytes: 5 }, '1:out', '2:err', { type: 'exit', code: 3 }])
  await eventually('its close', () => client.isClosed)
})

test('a client that cannot be opened is reported as a problem, without internal details', async (t) => {
  const { openStarted, storage } = await openShellApi(t)
  const away = await openStarted()
  away.client.events!.failed(new Failure('docker_unavailable', 'Docker does not respond', 'look at it'))
  assert.equal(await away.ws.closed(), 1008)
  const broken = await openStarted()
  broken.client.events!.failed(new Error('a secret'))
  await broken.ws.closed()

  const error = { type: 'error', code: 'docker_unavailable', detail: 'Docker does not respond' }
  assert.deepEqual(away.ws.received, [{ ...error, hint: 'look at it' }])
  assert.equal(broken.ws.received[0].code, 'internal_error')
  assert.doesNotMatch(JSON.stringify(broken.ws.received), /a secret/)
  const codes = await eventually('both outcomes', () => {
    const { records } = storage.audit.page({ limit: 2, action: 'datastore.client' })
    return records.every(({ finished_at }) => finished_at) && records.map(({ code }) => code)
  })
  assert.deepEqual(codes, ['internal_error', 'docker_unavailable'])
})

const wrong: Record<string, (ws: WsClient) => void> = {
  'is not JSON': ({ socket }) => socket.send('{'),
  'has an unknown type': ({ send }) => send({ type: 'dance' }),
  'begins with bytes': ({ socket }) => socket.send(Buffer.from('x')),
  'begins with a size': ({ send }) => send({ type: 'resize', cols: 1, rows: 1 }),
  'begins twice': ({ send }) => [start, start].forEach(send),
  'has a terminal without a size': ({ send }) =>
    send({ ...start, terminal: { name: 'x', cols: 0, rows: 1 } }),
  'has a terminal of an odd name': ({ send }) =>
    send({ ...start, terminal: { name: 'x;y', cols: 1, rows: 1 } }),
  'has a NUL in a word': ({ send }) => send({ ...start, words: ['a\0b'] }),
}

for (const [what, send] of Object.entries(wrong)) {
  test(`a message that ${what} is rejected, and is the last one`, async (t) => {
    const { open } = await openShellApi(t)
    const { ws, client } = await open()
    send(ws)
    assert.equal(await ws.closed(), 1008)
    assert.deepEqual(
      ws.received.map(({ type, code }) => [type, code]),
      [['error', 'invalid_request']],
    )
    await eventually('its close', () => client.isClosed)
  })
}

test('more than a MiB of unread input, and an oversized message, end the connection', async (t) => {
  const { openStarted } = await openShellApi(t)
  const piece = Buffer.alloc(128 * 1024)
  const greedy = await openStarted()
  for (let count = 0; count < 8; count++) greedy.ws.socket.send(piece)
  await eventually('a MiB', () => greedy.client.input.length === 8)
  greedy.client.take()
  await greedy.ws.receives('some to be accepted', (received) => received.length === 1)
  greedy.ws.socket.send(piece)
  await eventually('the next', () => greedy.client.input.length === 9)
  greedy.ws.socket.send(Buffer.from('x'))
  assert.equal(await greedy.ws.closed(), 1008)
  assert.equal(greedy.client.input.length, 9)

  const long = await openStarted()
  long.ws.socket.send(Buffer.alloc(256 * 1024 + 1))
  await long.ws.closed()
  await eventually('its close', () => long.client.isClosed)
  assert.deepEqual(long.client.input, [])
})

test('a client is paused while its user is behind, and resumes when the user has caught up', async (t) => {
  const { openStarted } = await openShellApi(t)
  const { ws, client } = await openStarted()
  ws.socket.pause()
  const piece = Buffer.alloc(64 * 1024, 'x')
  let sent = 0
  for (; !client.calls.includes('pause'); sent++) {
    client.events!.wrote('stdout', piece)
    await new Promise(setImmediate)
  }
  client.events!.wrote('stdout', piece)
  assert.deepEqual(client.calls, ['pause'])

  ws.socket.resume()
  await eventually('it to continue', () => client.calls.length === 2)
  client.events!.ended(0)
  assert.equal(await ws.closed(), 1000)
  assert.deepEqual(client.calls, ['pause', 'resume'])
  assert.equal(ws.received.join('').length, (sent + 1) * (piece.length + 2) + '[object Object]'.length)
})

test('a client that sends no start message is disconnected', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { open } = await openShellApi(t)
  const { ws, client } = await open()
  t.mock.timers.tick(10_000)
  t.mock.timers.reset()
  assert.equal(await ws.closed(), 1008)
  assert.equal(ws.received[0].code, 'invalid_request')
  await eventually('its close', () => client.isClosed)
})

test('access is checked before the WebSocket opens, as for every change', async (t) => {
  const { url, browser, tryOpen, opened, storage } = await openShellApi(t)
  const { cookie } = browser
  const path = pathOf('shop')
  const entered = async (headers: Record<string, string>, query = '') => {
    const outcome = await tryOpen(path + query, headers)
    return 'socket' in outcome ? 'in' : outcome
  }
  assert.deepEqual(await entered({}), [401, 'unauthorized'])
  assert.deepEqual(await entered({ authorization: 'Bearer wrong', cookie, origin: url }), [
    401,
    'unauthorized',
  ])
  assert.deepEqual(await entered({ cookie }), [403, 'cross_site_request'])
  assert.deepEqual(await entered({ cookie, origin: 'https://evil.test' }), [403, 'cross_site_request'])
  assert.deepEqual(await entered({ cookie, 'sec-fetch-site': 'same-site' }), [403, 'cross_site_request'])
  assert.deepEqual(await entered({ ...bearer, host: 'evil.test' }), [400, 'invalid_request'])
  assert.deepEqual(await entered(bearer, '?words=x'), [400, 'invalid_request'])
  assert.deepEqual(opened, [])

  assert.equal(await entered({ cookie, origin: url }), 'in')
  assert.equal(await entered({ cookie, 'sec-fetch-site': 'same-origin' }), 'in')
  assert.equal(await entered({ ...bearer, origin: 'https://elsewhere.test' }), 'in')
  assert.equal(await entered({}, `?access_token=${token}`), 'in')
  assert.ok(storage.datastores.idOf('shop'))
})

test('a connection that cannot open is refused as on any other route', async (t) => {
  const { tryOpen, call, storage } = await openShellApi(t)
  await storeDatastore(storage, 'broken', { status: 'failed', error: 'no memory' })
  await storeDatastore(storage, 'busy', { status: 'restarting' })
  assert.deepEqual(await tryOpen(pathOf('none')), [404, 'not_found'])
  assert.deepEqual(await tryOpen(pathOf('broken')), [409, 'conflict'])
  assert.deepEqual(await tryOpen(pathOf('busy')), [409, 'conflict'])

  const plain = await call('GET', pathOf('shop'))
  assert.deepEqual([plain.status, plain.body.code], [400, 'invalid_request'])
  assert.equal((await call('HEAD', pathOf('shop'))).status, 400)
  assert.equal((await call('POST', pathOf('shop'))).status, 405)
})

test('a shell in what has no container is refused before the WebSocket opens', async (t) => {
  const { tryOpen, call } = await openShellApi(t)
  const service = { name: 'web', type: 'web_service', image: 'localhost/app:1', deploy: false }
  const { status } = await call('POST', '/api/v1/services', { body: service })
  assert.equal(status, 201)
  assert.deepEqual(await tryOpen('/api/v1/services/web/shell'), [409, 'conflict'])
  assert.deepEqual(await tryOpen('/api/v1/services/web/shell?instance=-1'), [400, 'invalid_request'])
  assert.deepEqual(await tryOpen('/api/v1/services/none/shell'), [404, 'not_found'])
  assert.deepEqual(await tryOpen('/api/v1/jobs/job-01jz3k7d2m8q4r5t6v7w8x9y0z/shell'), [404, 'not_found'])
})

test('the number of open connections is limited, and each one that ends makes room', async (t) => {
  const { tryOpen, open } = await openShellApi(t)
  const sessions = [await open(), await open(), await open(), await open()]
  assert.deepEqual(await tryOpen(pathOf('shop')), [503, 'unavailable'])
  sessions[1]!.ws.socket.terminate()
  await eventually('room', () => sessions[1]!.client.isClosed)
  await open()
})

test('a connection ends with the token or session that opened it, and with no other', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { browser, signedIn, open, url, storage } = await openShellApi(t)
  const createdToken = (await browser.call('POST', '/auth/tokens', { name: 'ci' })).body
  const other = await signedIn()
  const byToken = await open({ authorization: `Bearer ${createdToken.token}` })
  const bySession = await open({ cookie: other.cookie, origin: url })
  const kept = await open()

  await browser.call('DELETE', `/auth/tokens/${createdToken.api_token.id}`)
  const session = storage.sessions.bySecret([...other.jar.values()][0]!)!
  await browser.call('DELETE', `/auth/sessions/${session.id}`)

  assert.deepEqual(await Promise.all([byToken, bySession].map(({ ws }) => ws.closed())), [1001, 1001])
  await eventually('their close', () => byToken.client.isClosed && bySession.client.isClosed)
  assert.equal(kept.client.isClosed, false)
  kept.ws.send(start)
  await eventually('it to continue', () => kept.client.start)
})

test('a stop of the server ends a connection immediately', async (t) => {
  const { server, openStarted } = await openShellApi(t)
  const { ws, client } = await openStarted()
  const startedAt = performance.now()
  await server.stop(60_000)
  assert.equal(await ws.closed(), 1001)
  assert.equal(client.isClosed, true)
  assert.ok(performance.now() - startedAt < 30_000)
})

test('the log records who opened a connection and when it closed, without its content', async (t) => {
  const lines: { msg?: string | undefined; datastore?: string; by?: string }[] = []
  const hear = (fields: object | string, msg?: string) => void lines.push({ msg, ...Object(fields) })
  const logger = { ...silentLogger, debug: hear, info: hear, error: hear } as Logger
  const { openStarted } = await openShellApi(t, { logger })
  const { ws, client } = await openStarted()
  ws.socket.send(Buffer.from('drop table'))
  await eventually('the words', () => client.input.length === 1)
  ws.socket.close()
  await eventually('its close', () => client.isClosed)
  assert.deepEqual(
    lines.filter(({ msg }) => msg?.startsWith('shell')).map(({ msg, datastore, by }) => [msg, datastore, by]),
    [
      ['shell opened', 'shop', 'server'],
      ['shell closed', 'shop', 'server'],
    ],
  )
  assert.doesNotMatch(JSON.stringify(lines), /drop table/)
})
