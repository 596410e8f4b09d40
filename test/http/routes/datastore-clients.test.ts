// The way into a datastore: who gets a WebSocket, what ends it, and what the log has of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Logger } from '../../../src/logger.ts'
import { token } from '../../support/http/http-context.ts'
import { bearer, openShellApi, pathOf, start } from '../../support/http/shell-api.ts'
import { storeDatastore } from '../../support/http/ws-client.ts'
import { eventually, silentLogger } from '../../support/supervisor/supervision.ts'

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
    lines
      .filter(({ msg }) => msg?.startsWith('datastore shell'))
      .map(({ msg, datastore, by }) => [msg, datastore, by]),
    [
      ['datastore shell opened', 'shop', 'server'],
      ['datastore shell closed', 'shop', 'server'],
    ],
  )
  assert.doesNotMatch(JSON.stringify(lines), /drop table/)
})
