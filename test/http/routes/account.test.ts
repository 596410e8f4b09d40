// The account over HTTP: setup in its order, what may be an e-mail and a password, and another password.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { outcomeOf, startWithAccount } from '../../support/http/account.ts'
import { openBrowser } from '../../support/http/browser.ts'
import { startApi, token } from '../../support/http/http-context.ts'
import { owner } from '../../support/http/session.ts'

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
