// Credentials: how a bearer token may be written, which credential wins over a cookie, and for how long.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { until } from '../support/daemon/service.ts'
import { type AccountApi, outcomeOf, startWithAccount } from '../support/http/account.ts'
import { head, raw, token } from '../support/http/http-context.ts'

/** What `GET services` is answered to this header, with the cookie or without it. */
async function outcomes({ browser, signedOut }: AccountApi, authorization: string): Promise<string[]> {
  const requests = [signedOut(), browser].map((one) =>
    one.call('GET', '/services', undefined, { authorization }),
  )
  return (await Promise.all(requests)).map(outcomeOf)
}

const unauthorized = '401 unauthorized'

test('the word bearer is case-insensitive, with spaces around the token', async (t) => {
  const api = await startWithAccount(t)
  const written = ['Bearer ', 'bearer ', 'BEARER ', 'bEaReR   ', '  Bearer   ']

  for (const start of written) {
    assert.deepEqual(await outcomes(api, `${start}${token}`), ['200', '200'], start)
    assert.deepEqual(await outcomes(api, `${start}${token}   `), ['200', '200'], start)
  }
})

test('another scheme counts as no credential, so the cookie decides', async (t) => {
  const api = await startWithAccount(t)

  for (const other of [`Basic ${token}`, token, `Bearer${token}`, `Token ${token}`, `Bearer,${token}`, '']) {
    assert.deepEqual(await outcomes(api, other), [unauthorized, '200'], other)
  }
})

test('a wrong token is refused also with a valid session cookie', async (t) => {
  const api = await startWithAccount(t)

  assert.deepEqual(await outcomes(api, 'Bearer bth_wrong'), [unauthorized, unauthorized])
})

test('a request with a missing or wrong credential learns how to authenticate', async (t) => {
  const api = await startWithAccount(t)

  for (const headers of [{}, { authorization: 'Bearer wrong' }, { cookie: 'svc_session_1=x' }]) {
    const response = await api.signedOut().call('GET', '/services', undefined, headers)
    assert.equal(outcomeOf(response), unauthorized)
    assert.equal(response.headers['www-authenticate'], 'Bearer')
  }
})

test('a header of maximum length is parsed in linear time', async (t) => {
  const api = await startWithAccount(t)
  const askedWith = async (authorization: string) => {
    const startedAt = performance.now()
    await api.signedOut().call('GET', '/services', undefined, { authorization })
    return performance.now() - startedAt
  }
  const blanks = `Bearer x${' '.repeat(15_000)}x`
  const best = async (authorization: string) => {
    const times = []
    for (let count = 0; count < 5; count++) times.push(await askedWith(authorization))
    return Math.min(...times)
  }

  const [plain, long] = [await best(`Bearer ${'x'.repeat(15_000)}`), await best(blanks)]

  assert.ok(long < 25 * plain, `${long} ms instead of ${plain} ms`)
})

test('a token is refused for account routes before the body is read', async (t) => {
  const { server } = await startWithAccount(t)
  const lines = ['Host: localhost', `Authorization: Bearer ${token}`, 'Content-Length: 1000']

  const { text } = await raw(server.port, `${head('POST /api/v1/auth/tokens', ...lines)}{"na`)

  assert.match(text, /^HTTP\/1\.1 403 /)
  assert.match(text, /"code":"session_required"/)
})

test('every path below /api needs a credential, even unknown ones', async (t) => {
  const { browser, signedOut, url } = await startWithAccount(t)
  const ask = async (path: string, headers: Record<string, string>) =>
    (await fetch(`${url}${path}`, { headers })).status

  for (const path of ['/api', '/api/', '/api/v1', '/api/v1/nothing', '/api/v2/services']) {
    assert.deepEqual([await ask(path, {}), await ask(path, { cookie: browser.cookie })], [401, 404], path)
  }
  assert.equal(outcomeOf(await signedOut().call('GET', '/services')), unauthorized)
})

/** A request whose body comes when the test says so. */
function openRequest(t: TestContext, { server }: AccountApi, path: string, headers: string[], body: Buffer) {
  const socket = connect(server.port, '127.0.0.1')
  t.after(() => socket.destroy())
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  const host = `Host: 127.0.0.1:${server.port}`
  socket.write(head(`POST /api/v1${path}`, host, `Content-Length: ${body.length}`, ...headers))
  socket.write(body.subarray(0, 1))
  return {
    finish: () => socket.write(body.subarray(1)),
    status: () => until('the answer', async () => /^HTTP\/1\.1 (\d+)/.exec(received)?.[1]),
  }
}

test('a browser signed out while it sends the body changes nothing', async (t) => {
  const api = await startWithAccount(t)
  const other = await api.signedIn()
  const page = [`Cookie: ${other.cookie}`, 'Sec-Fetch-Site: same-origin']
  const late = openRequest(t, api, '/auth/tokens', page, Buffer.from('{"name":"late"}'))
  await other.call('GET', '/auth/status')

  await other.call('POST', '/auth/logout')
  late.finish()

  assert.equal(await late.status(), '401')
  assert.deepEqual(api.storage.tokens.list(), [])
})

test('a token revoked while the body or an upload is sent changes nothing', async (t) => {
  const api = await startWithAccount(t)
  await api.call('POST', '/api/v1/services', { body: { name: 'web' } })
  const { api_token, token: revoked } = (await api.browser.call('POST', '/auth/tokens', { name: 'ci' })).body
  const label = `Authorization: Bearer ${revoked}`
  const requests = [
    openRequest(t, api, '/services', [label], Buffer.from('{"name":"late"}')),
    openRequest(t, api, '/services/web/deploys/upload', [label], gzipSync('no archive, but who knows')),
  ]
  await api.call('GET', '/api/v1/services', { token: revoked })

  await api.browser.call('DELETE', `/auth/tokens/${api_token.id}`)

  for (const late of requests) {
    late.finish()
    assert.equal(await late.status(), '401')
  }
  assert.deepEqual(
    api.storage.services.list().map(({ name }) => name),
    ['web'],
  )
  assert.deepEqual((await api.call('GET', '/api/v1/services/web/deploys')).text, '[]')
})
