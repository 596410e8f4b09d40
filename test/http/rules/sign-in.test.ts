// Signing in and out over HTTP: what a failure reveals, how many are allowed, and what stays signed in.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { duration } from '../../../src/quantities.ts'
import { type AccountApi, outcomeOf, startWithAccount } from '../../support/http/account.ts'
import { type Browser, openBrowser, type SentHeaders } from '../../support/http/browser.ts'
import { owner } from '../../support/http/session.ts'

const wrong = { ...owner, password: 'a wild guess' }

const unknown = { 'x-forwarded-for': '198.51.100.7' }

const guess = (browser: Browser, headers: SentHeaders = unknown) =>
  browser.call('POST', '/auth/login', wrong, headers)

test('signing in returns the status and opens an additional session', async (t) => {
  const { browser, signedOut } = await startWithAccount(t)
  const other = signedOut()

  const { status, body } = await other.signIn()

  assert.deepEqual([status, body.auth, body.user.email], [200, 'session', owner.email])
  assert.equal((await other.call('GET', '/auth/sessions')).body.length, 2)
  assert.notDeepEqual(other.jar, browser.jar)
})

test('a repeated key signs in again, and never returns the cookie of another client', async (t) => {
  const { signedOut, storage } = await startWithAccount(t)
  const [one, other] = [signedOut(), signedOut()]
  const key = { 'idempotency-key': 'same' }

  const responses = await Promise.all([one.signIn(key), other.signIn(key)])

  for (const { headers } of responses) assert.equal(headers['idempotency-replayed'], undefined)
  assert.notDeepEqual(one.jar, other.jar)
  assert.equal(storage.sessions.list().length, 3)
})

test('after ten failures every sign-in of an unknown client is refused, even a correct one', async (t) => {
  const { browser, signedOut } = await startWithAccount(t)
  const claims = Array.from({ length: 10 }, (_, index) => ({ 'x-forwarded-for': `192.0.2.${index}` }))

  for (const claim of claims) {
    assert.equal(outcomeOf(await guess(signedOut(), claim)), '401 invalid_credentials')
  }
  for (const headers of [unknown, { via: '1.1 proxy' }, { forwarded: 'for=198.51.100.1' }]) {
    const refused = await signedOut().signIn(headers)
    assert.equal(outcomeOf(refused), '429 too_many_attempts')
    const seconds = Number(refused.headers['retry-after'])
    assert.ok(seconds > 0 && seconds <= 300, `the wait is ${seconds} s`)
    assert.ok(refused.body.detail.endsWith(` ${duration(seconds * 1000)}`), refused.body.detail)
  }
  assert.equal((await browser.call('GET', '/auth/sessions')).status, 200)
})

test('signing out ends only the session of the cookie', async (t) => {
  const { browser, signedIn } = await startWithAccount(t)
  const other = await signedIn()
  const { cookie } = browser

  assert.equal((await browser.call('POST', '/auth/logout')).status, 204)

  assert.ok([...browser.jar.keys()].every((name) => name.startsWith('svc_device_')))
  assert.equal(
    outcomeOf(await browser.call('GET', '/auth/sessions', undefined, { cookie })),
    '401 unauthorized',
  )
  assert.equal((await other.call('GET', '/auth/sessions')).body.length, 1)
})

test('signing out succeeds without a session, and always clears the cookie', async (t) => {
  const { signedOut, url } = await startWithAccount(t)
  const name = `svc_session_${new URL(url).port}`

  for (const cookie of [null, `${name}=bths_wrong`, `${name}=`, 'other=1']) {
    const { status, headers } = await signedOut().call('POST', '/auth/logout', undefined, { cookie })
    assert.equal(status, 204)
    assert.match(String(headers['set-cookie']), new RegExp(`^${name}=; Path=/; Max-Age=0;`))
  }
})

const far = { 'x-forwarded-for': '198.51.100.7' }
const tooMany = '429 too_many_attempts'

const fail = (browser: Browser, headers = far) => browser.call('POST', '/auth/login', wrong, headers)

async function failTen(browser: Browser, headers: Record<string, string> = far): Promise<void> {
  for (let count = 0; count < 10; count++) {
    assert.equal(outcomeOf(await fail(browser, headers as typeof far)), '401 invalid_credentials')
  }
  assert.equal(outcomeOf(await fail(browser, headers as typeof far)), tooMany)
}

/** A server that unknown clients have locked. */
async function startLocked(t: TestContext): Promise<AccountApi> {
  const api = await startWithAccount(t)
  await failTen(api.signedOut())
  assert.equal(outcomeOf(await api.signedOut().signIn(far)), tooMany)
  return api
}

const deviceOf = ({ jar }: Browser) => [...jar].find(([name]) => name.startsWith('svc_device_'))!

/** Another browser with the device cookie of this one, or with another value of it. */
function knownBrowser({ url, browser }: AccountApi, value = deviceOf(browser)[1]): Browser {
  return openBrowser(url, new Map([[deviceOf(browser)[0], value]]))
}

test('a known browser can sign in while unknown clients are refused', async (t) => {
  const api = await startLocked(t)
  await api.browser.call('POST', '/auth/logout')
  assert.equal(api.browser.jar.size, 1, 'the device cookie stays')

  assert.equal(outcomeOf(await api.browser.signIn(far)), '200')
})

test('a known browser has ten attempts, also after it signed in again', async (t) => {
  const api = await startWithAccount(t)
  const known = knownBrowser(api)
  await known.signIn(far)
  const again = knownBrowser(api, deviceOf(known)[1])

  await failTen(knownBrowser(api))

  assert.equal(outcomeOf(await again.signIn(far)), tooMany)
  assert.equal(outcomeOf(await api.signedOut().signIn(far)), '200')
})

test('a forged or modified device cookie is that of an unknown client', async (t) => {
  const api = await startLocked(t)
  const [, value] = deviceOf(api.browser)
  const changed = `${value.slice(0, -6)}${value.at(-6) === 'A' ? 'B' : 'A'}${value.slice(-5)}`

  for (const forged of [changed, value.slice(0, -4), 'v1.AAAA', 'x', value.slice(3)]) {
    assert.equal(outcomeOf(await knownBrowser(api, forged).signIn(far)), tooMany, forged)
  }
})

test('a device cookie is no credential, wherever it is sent', async (t) => {
  const api = await startWithAccount(t)
  const [name, value] = deviceOf(api.browser)
  const session = name.replace('device', 'session')
  const views = [
    { cookie: `${name}=${value}` },
    { cookie: `${session}=${value}` },
    { authorization: `Bearer ${value}` },
  ]

  for (const headers of views) {
    const response = await api.signedOut().call('GET', '/services', undefined, headers)
    assert.equal(outcomeOf(response), '401 unauthorized')
  }
  const query = await fetch(`${api.url}/api/v1/services?access_token=${encodeURIComponent(value)}`)
  assert.equal(query.status, 401)
})

test("a new password invalidates all device cookies except the browser's own", async (t) => {
  const api = await startWithAccount(t)
  const other = await api.signedIn()
  const previous = knownBrowser(api)
  const change = { current_password: owner.password, new_password: 'another battery' }
  await api.browser.call('POST', '/auth/password', change)
  await failTen(api.signedOut())
  const login = { ...owner, password: change.new_password }

  for (const browser of [other, previous]) {
    assert.equal(outcomeOf(await browser.call('POST', '/auth/login', login, far)), tooMany)
  }
  assert.equal(outcomeOf(await api.browser.call('POST', '/auth/login', login, far)), '200')
})
