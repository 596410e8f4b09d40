// The account over HTTP: setup in its order, what may be an e-mail and a password, and another password.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Logger } from '../../../src/logger.ts'
import type { SessionRow } from '../../../storage/access/hashed-tokens.ts'
import { until } from '../../support/daemon/service.ts'
import { type AccountApi, outcomeOf, startWithAccount } from '../../support/http/account.ts'
import { type Browser, openBrowser } from '../../support/http/browser.ts'
import { token as serverToken, startApi, token } from '../../support/http/http-context.ts'
import { owner } from '../../support/http/session.ts'
import { filesWith } from '../../support/storage/canary.ts'

const asToken = { authorization: `Bearer ${token}` }
const wrongToken = { authorization: 'Bearer bth_wrong' }

test('a new server requires setup and rejects every credential', async (t) => {
  const { url } = await startApi(t)
  const { call, jar } = openBrowser(url)
  jar.set(`svc_session_${new URL(url).port}`, 'bths_wrong')
  const nobody = { auth: null, setup_required: true, user: null }

  for (const headers of [{}, wrongToken, { cookie: null }, { authorization: 'Bearer' }]) {
    const { status, body } = await call('GET', '/auth/status', undefined, headers)
    assert.deepEqual([status, body], [200, nobody])
  }
  const { body } = await call('GET', '/auth/status?access_token=wrong')
  assert.deepEqual(body, nobody)
  assert.equal(outcomeOf(await call('POST', '/auth/login', owner, { cookie: null })), '409 conflict')
})

test('a session is described only to its own browser', async (t) => {
  const { browser, signedOut } = await startWithAccount(t)
  const status = async (headers = {}) => (await browser.call('GET', '/auth/status', undefined, headers)).body

  const { auth, setup_required, user } = await status()
  assert.deepEqual([auth, setup_required, user.email], ['session', false, owner.email])
  assert.match(user.id, /^usr-/)
  assert.deepEqual(Object.keys(user), ['id', 'email', 'created_at'])
  const others = { setup_required: false, user: null }
  assert.deepEqual(await status({ cookie: null, ...asToken }), { auth: 'token', ...others })
  assert.deepEqual(await status(wrongToken), { auth: null, ...others })
  assert.deepEqual((await signedOut().call('GET', '/auth/status')).body, { auth: null, ...others })
})

test('setup creates the account, signs in and disables setup', async (t) => {
  const { url, storage } = await startApi(t)
  const browser = openBrowser(url)
  const code = storage.setupCode.ensure()

  const { status, body } = await browser.setUp(` ${code}\n`)

  assert.deepEqual(
    [status, body.auth, body.setup_required, body.user.email],
    [201, 'session', false, owner.email],
  )
  assert.equal((await browser.call('GET', '/auth/sessions')).status, 200)
  assert.equal(existsSync(join(storage.directory, 'setup_code')), false)
  assert.equal(outcomeOf(await openBrowser(url).setUp(code)), '409 already_set_up')
})

test('setup checks the account, then the code, then the other fields, without a limit', async (t) => {
  const { url, storage } = await startApi(t)
  const { call } = openBrowser(url)
  const code = storage.setupCode.ensure()
  const setUp = (changes: object) => call('POST', '/auth/setup', { ...owner, code, ...changes })
  const bad = { email: 'nobody', password: 'short' }

  const refused = await setUp(bad)
  assert.equal(outcomeOf(refused), '400 invalid_request')
  assert.deepEqual(
    refused.body.errors.map(({ path }: { path: string }) => path),
    ['email', 'password'],
  )
  for (let count = 0; count < 20; count++) {
    assert.equal(outcomeOf(await setUp({ ...bad, code: 'guess' })), '403 invalid_setup_code')
  }
  assert.equal((await setUp({})).status, 201)
  for (const changes of [{}, bad, { code: 'guess' }]) {
    assert.equal(outcomeOf(await setUp(changes)), '409 already_set_up')
  }
})

test('an e-mail is stored trimmed and in lower case, and matches in any case', async (t) => {
  const { url, storage } = await startApi(t)
  const { call } = openBrowser(url)
  const code = storage.setupCode.ensure()

  const { body } = await call('POST', '/auth/setup', { ...owner, code, email: '  Ada@Example.COM ' })

  assert.equal(body.user.email, 'ada@example.com')
  const email = 'ADA@example.com\t'
  assert.equal((await call('POST', '/auth/login', { ...owner, email })).status, 200)
})

test('an invalid e-mail is rejected by name', async (t) => {
  const { url, storage } = await startApi(t)
  const code = storage.setupCode.ensure()
  const long = `${'a'.repeat(243)}@example.com`
  const setUp = (email: unknown) => openBrowser(url).call('POST', '/auth/setup', { ...owner, code, email })

  for (const email of ['', ' ', 'ada', '@', 'ada@', '@example.com', 'a@b@c', 'a da@b', 'ada@b\u0007', long]) {
    const response = await setUp(email)
    assert.equal(outcomeOf(response), '400 invalid_request', email)
    assert.equal(response.body.errors[0].path, 'email')
  }
  assert.equal(long.length, 255)
  assert.equal((await setUp(long.slice(1))).status, 201)
})

test('a password has 8 to 1024 characters, regardless of bytes', async (t) => {
  const { browser, signedOut } = await startWithAccount(t)
  let current = owner.password
  const change = (next: string) =>
    browser.call('POST', '/auth/password', { current_password: current, new_password: next })

  for (const next of ['', 'sevench', '🙂'.repeat(7), 'x'.repeat(1025), '🙂'.repeat(1025)]) {
    assert.equal(outcomeOf(await change(next)), '400 invalid_request', `${next.length}`)
  }
  for (const next of ['eightchr', '🙂'.repeat(8), '🙂'.repeat(1024), ' with blanks ']) {
    assert.equal(outcomeOf(await change(next)), '204')
    current = next
  }
  const signIn = (password: string) => signedOut().call('POST', '/auth/login', { ...owner, password })
  assert.equal(outcomeOf(await signIn('with blanks')), '401 invalid_credentials')
  assert.equal(outcomeOf(await signIn(' with blanks ')), '200')
})

test('the new password is validated before the current one, which has a separate limit', async (t) => {
  const { browser, signedIn, storage } = await startWithAccount(t)
  const change = (current_password: string, new_password: string) =>
    browser.call('POST', '/auth/password', { current_password, new_password })

  for (let count = 0; count < 12; count++) {
    assert.equal(outcomeOf(await change('a wild guess', 'short')), '400 invalid_request')
  }
  assert.deepEqual(storage.attempts.list('current_password'), [])
  for (let count = 0; count < 10; count++) {
    assert.equal(outcomeOf(await change('a wild guess', 'long enough')), '401 invalid_credentials')
  }
  const refused = await change(owner.password, 'long enough')
  assert.equal(outcomeOf(refused), '429 too_many_attempts')
  assert.match(String(refused.headers['retry-after']), /^\d+$/)
  assert.equal((await signedIn()).jar.size, 2)
})

const dayMs = 24 * 60 * 60_000

const list = async (browser: Browser) => (await browser.call('GET', '/auth/sessions')).body
const secretOf = ({ jar }: Browser) => [...jar.values()][0]!
const rowOf = ({ storage }: AccountApi, browser: Browser): SessionRow =>
  storage.sessions.bySecret(secretOf(browser))!

test('a record contains times, the browser and whether it is the current one, and no secret', async (t) => {
  const { browser, signedOut } = await startWithAccount(t)
  await signedOut().signIn({ 'user-agent': 'Firefox/140' })

  const sessions = await list(browser)

  assert.equal(sessions.length, 2)
  for (const session of sessions) {
    assert.deepEqual(Object.keys(session), [
      'id',
      'created_at',
      'expires_at',
      'last_used_at',
      'user_agent',
      'current',
    ])
    assert.match(session.id, /^ses-/)
    assert.equal(Date.parse(session.expires_at) - Date.parse(session.last_used_at), 30 * dayMs)
  }
  const byAgent = new Map(sessions.map((one: Record<string, unknown>) => [one.user_agent, one.current]))
  assert.deepEqual(
    byAgent,
    new Map([
      [null, true],
      ['Firefox/140', false],
    ]),
  )
  assert.ok(!JSON.stringify(sessions).includes('bths_'))
})

test('ending another session clears no cookie, and signs that browser out immediately', async (t) => {
  const api = await startWithAccount(t)
  const other = await api.signedIn()
  const path = `/auth/sessions/${rowOf(api, other).id}`

  const ended = await api.browser.call('DELETE', path)

  assert.deepEqual([ended.status, ended.headers['set-cookie']], [204, undefined])
  assert.equal(outcomeOf(await other.call('GET', '/services')), '401 unauthorized')
  assert.equal(outcomeOf(await api.browser.call('DELETE', path)), '404 not_found')
  assert.equal((await list(api.browser)).length, 1)
})

test('all other sessions are ended at once, and the current one stays', async (t) => {
  const api = await startWithAccount(t)
  const others = [await api.signedIn(), await api.signedIn()]

  const ended = await api.browser.call('DELETE', '/auth/sessions')

  assert.deepEqual([ended.status, ended.headers['set-cookie']], [204, undefined])
  for (const other of others) {
    assert.equal(outcomeOf(await other.call('GET', '/services')), '401 unauthorized')
  }
  assert.equal((await list(api.browser)).length, 1)
  assert.equal((await api.browser.call('DELETE', '/auth/sessions')).status, 204)
})

test('ending the current session signs out', async (t) => {
  const api = await startWithAccount(t)
  const { browser } = api
  const { cookie } = browser
  const name = `svc_session_${api.server.port}`

  const ended = await browser.call('DELETE', `/auth/sessions/${rowOf(api, browser).id}`)

  assert.equal(ended.status, 204)
  assert.deepEqual(ended.headers['set-cookie'], [`${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`])
  assert.equal(
    outcomeOf(await browser.call('GET', '/auth/sessions', undefined, { cookie })),
    '401 unauthorized',
  )
})

const create = async ({ browser }: AccountApi, body: object) =>
  (await browser.call('POST', '/auth/tokens', body)).body
const listTokens = async ({ browser }: AccountApi) => (await browser.call('GET', '/auth/tokens')).body
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

  const tokens = await listTokens(api)

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
  assert.equal((await listTokens(api)).length, 5)
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
    (await listTokens(api)).map(({ name }: { name: string }) => name),
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
  assert.equal((await listTokens(api)).length, 0)
})

test('a repeated key creates another token, because the first value is not stored', async (t) => {
  const api = await startWithAccount(t)
  const ask = () => api.browser.call('POST', '/auth/tokens', { name: 'ci' }, { 'idempotency-key': 'same' })

  const [one, other] = await Promise.all([ask(), ask()])

  assert.notEqual(one.body.token, other.body.token)
  assert.equal((await listTokens(api)).length, 2)
})
