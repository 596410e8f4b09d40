// API tokens over HTTP: shown once, kept as a hash, listed without the server's own, and over when they are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Logger } from '../../../src/logger.ts'
import { until } from '../../support/daemon/service.ts'
import { type AccountApi, outcomeOf, startWithAccount } from '../../support/http/account.ts'
import { token as serverToken } from '../../support/http/http-context.ts'
import { filesWith } from '../../support/storage/canary.ts'

const dayMs = 24 * 60 * 60_000

const create = async ({ browser }: AccountApi, body: object) =>
  (await browser.call('POST', '/auth/tokens', body)).body
const list = async ({ browser }: AccountApi) => (await browser.call('GET', '/auth/tokens')).body
/** The API's response to a request with this token. */
const outcomeWith = async ({ call }: AccountApi, token: string) =>
  outcomeOf(await call('GET', '/api/v1/services', { token }))

test('the creation returns the token and its record', async (t) => {
  const api = await startWithAccount(t)

  const { status, body } = await api.browser.call('POST', '/auth/tokens', { name: '  ci  ' })

  assert.equal(status, 201)
  const { api_token, token } = body
  assert.match(token, /^bth_[\w-]{43}$/)
  assert.match(api_token.id, /^tok-/)
  assert.deepEqual(
    { ...api_token, id: 'tok', created_at: 'now' },
    {
      id: 'tok',
      name: 'ci',
      hint: token.slice(-4),
      created_at: 'now',
      role: 'admin',
      services: null,
      expires_at: null,
      last_used_at: null,
    },
  )
  assert.equal(await outcomeWith(api, token), '200')
})

test('tokens are listed newest first, without their values and without the server token', async (t) => {
  const api = await startWithAccount(t)
  const made = []
  for (const name of ['one', 'two', 'three']) made.unshift(await create(api, { name }))

  const tokens = await list(api)

  assert.deepEqual(
    tokens,
    made.map(({ api_token }) => api_token),
  )
  for (const { token } of made) assert.ok(!JSON.stringify(tokens).includes(token.slice(0, 20)))
  assert.ok(!JSON.stringify(tokens).includes(serverToken))
})

test('the token appears in no file of the store and in no line of the log', async (t) => {
  const lines: string[] = []
  const hear = (...said: unknown[]) => void lines.push(JSON.stringify(said))
  const ears = { debug: hear, info: hear, warn: hear, error: hear, fatal: hear }
  const logger: Logger = { ...ears, child: () => logger }
  const api = await startWithAccount(t, { logger })

  const { token } = await create(api, { name: 'canary-name' })
  await fetch(`${api.url}/api/v1/services?access_token=${token}`)
  await outcomeWith(api, token)
  await until('the use to be noted', async () => api.storage.tokens.list()[0]?.last_used_at)

  const { directory } = api.storage
  assert.deepEqual(filesWith(directory, token), [])
  assert.notDeepEqual(filesWith(directory, 'canary-name'), [])
  assert.ok(
    lines.some((line) => line.includes('/api/v1/services')),
    'the log has the requests',
  )
  assert.ok(!lines.join('').includes(token.slice(4)))
  const [secret] = api.browser.jar.values()
  assert.deepEqual(filesWith(directory, secret!), [])
  assert.ok(!lines.join('').includes(secret!))
})

test('a name has 1 to 100 characters, trimmed, and no control characters', async (t) => {
  const api = await startWithAccount(t)
  const outcome = async (body: object) => outcomeOf(await api.browser.call('POST', '/auth/tokens', body))

  for (const name of ['x', 'x'.repeat(100), ` ${'x'.repeat(100)} `, 'zwölf Übungen', 'a b']) {
    assert.equal(await outcome({ name }), '201', name)
  }
  for (const name of ['', '   ', 'x'.repeat(101), 'a\nb', 'a\u0000b', 'a\u007fb', null, 7]) {
    assert.equal(await outcome({ name }), '400 invalid_request', JSON.stringify(name))
  }
  assert.equal(await outcome({}), '400 invalid_request')
  assert.equal((await list(api)).length, 5)
})

test('a token lasts 1 to 3650 days, or forever by default', async (t) => {
  const api = await startWithAccount(t)
  assert.equal((await create(api, { name: 'ci', expires_in_days: null })).api_token.expires_at, null)
  for (const days of [1, 3650]) {
    const { created_at, expires_at } = (await create(api, { name: 'ci', expires_in_days: days })).api_token
    assert.equal(Date.parse(expires_at) - Date.parse(created_at), days * dayMs)
  }
})

test('a revoked token is rejected from the next request on, and can be revoked once', async (t) => {
  const api = await startWithAccount(t)
  const [kept, revoked] = [await create(api, { name: 'kept' }), await create(api, { name: 'revoked' })]
  const path = `/auth/tokens/${revoked.api_token.id}`

  assert.equal((await api.browser.call('DELETE', path)).status, 204)

  assert.equal(await outcomeWith(api, revoked.token), '401 unauthorized')
  assert.equal(await outcomeWith(api, kept.token), '200')
  assert.equal(outcomeOf(await api.browser.call('DELETE', path)), '404 not_found')
  assert.deepEqual(
    (await list(api)).map(({ name }: { name: string }) => name),
    ['kept'],
  )
})

test('the server token cannot be revoked, nor a session as a token', async (t) => {
  const api = await startWithAccount(t)
  const { id } = api.storage.sessions.list()[0]!

  for (const unknown of ['server', id, 'usr-1']) {
    assert.equal(outcomeOf(await api.browser.call('DELETE', `/auth/tokens/${unknown}`)), '404 not_found')
  }
  assert.equal(await outcomeWith(api, serverToken), '200')
  assert.equal((await list(api)).length, 0)
})

test('a repeated key creates another token, because the first value is not stored', async (t) => {
  const api = await startWithAccount(t)
  const ask = () => api.browser.call('POST', '/auth/tokens', { name: 'ci' }, { 'idempotency-key': 'same' })

  const [one, other] = await Promise.all([ask(), ask()])

  assert.notEqual(one.body.token, other.body.token)
  assert.equal((await list(api)).length, 2)
})
