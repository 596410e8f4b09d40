// Signing in and out over HTTP: what a failure reveals, how many are allowed, and what stays signed in.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { duration } from '../../../src/quantities.ts'
import { outcomeOf, startWithAccount } from '../../support/http/account.ts'
import type { Browser, SentHeaders } from '../../support/http/browser.ts'
import { owner } from '../../support/http/session.ts'

const wrong = { ...owner, password: 'a wild guess' }

/** What a proxy on this host adds: without it a request over loopback is the host's own. */
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
