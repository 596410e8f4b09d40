// Signing in and out over HTTP: what a failure reveals, how many are allowed, and what stays signed in.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { duration } from '../../../src/quantities.ts'
import { until } from '../../support/daemon/service.ts'
import { outcomeOf, startWithAccount } from '../../support/http/account.ts'
import type { Browser, SentHeaders } from '../../support/http/browser.ts'
import { token } from '../../support/http/http-context.ts'
import { owner } from '../../support/http/session.ts'

const wrong = { ...owner, password: 'a wild guess' }

/** What a proxy on this host adds: without it a request over loopback is the host's own. */
const unknown = { 'x-forwarded-for': '198.51.100.7' }

const guess = (browser: Browser, headers: SentHeaders = unknown) =>
  browser.call('POST', '/auth/login', wrong, headers)

test('an unknown e-mail and a wrong password have the same message', async (t) => {
  const { signedOut } = await startWithAccount(t)
  const browser = signedOut()
  const reported = async (body: object) => {
    const response = await browser.call('POST', '/auth/login', body)
    const { request_id, ...words } = response.body
    return [response.status, words, response.headers['set-cookie']]
  }

  const unknown = await reported({ ...owner, email: 'eve@example.com' })

  assert.deepEqual(unknown, await reported(wrong))
  assert.deepEqual(unknown, await reported({ email: 'no e-mail at all', password: '' }))
  assert.equal((unknown[1] as { code: string }).code, 'invalid_credentials')
})

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

test('nine failures refuse no client, and a success does not count', async (t) => {
  const { signedOut } = await startWithAccount(t)
  for (let count = 0; count < 9; count++) await guess(signedOut())

  for (let count = 0; count < 3; count++) assert.equal(outcomeOf(await signedOut().signIn(unknown)), '200')
  assert.equal(outcomeOf(await guess(signedOut())), '401 invalid_credentials')

  assert.equal(outcomeOf(await signedOut().signIn(unknown)), '429 too_many_attempts')
})

test('the limit is lifted when the oldest failure is five minutes old', async (t) => {
  const { signedOut, storage } = await startWithAccount(t)
  const ages = [...Array.from({ length: 9 }, () => 100_000), 295_000]
  for (const age of ages) {
    await storage.attempts.record(storage.attempts.create('sign_in', Date.now() - age), () => false)
  }

  const refused = await signedOut().signIn(unknown)
  assert.match(String(refused.headers['retry-after']), /^[1-5]$/)
  await until('the end of the wait', async () => (await signedOut().signIn(unknown)).status === 200)

  assert.equal(outcomeOf(await guess(signedOut())), '401 invalid_credentials')
  const again = await signedOut().signIn(unknown)
  assert.equal(outcomeOf(again), '429 too_many_attempts')
  assert.ok(Number(again.headers['retry-after']) > 60)
})

test('of two hundred concurrent guesses ten are checked', async (t) => {
  const { signedOut, storage } = await startWithAccount(t)

  const came = await Promise.all(Array.from({ length: 200 }, () => guess(signedOut())))

  const outcomes = came.map(outcomeOf)
  assert.equal(outcomes.filter((outcome) => outcome === '401 invalid_credentials').length, 10)
  assert.equal(outcomes.filter((outcome) => outcome === '429 too_many_attempts').length, 190)
  assert.equal(storage.attempts.list('sign_in').length, 10)
})

test('concurrent correct passwords get a wait of a second, not of five minutes', async (t) => {
  const { signedOut } = await startWithAccount(t)

  const responses = await Promise.all(Array.from({ length: 14 }, () => signedOut().signIn()))

  const refused = responses.filter(({ status }) => status === 429)
  assert.equal(responses.filter(({ status }) => status === 200).length + refused.length, 14)
  for (const { headers } of refused) assert.equal(headers['retry-after'], '1')
  assert.equal((await signedOut().signIn()).status, 200)
})

test('the sign-in and sign-out routes ignore bearer tokens', async (t) => {
  const { browser, signedOut } = await startWithAccount(t)
  for (const authorization of ['Bearer ', 'Bearer', 'Bearer bth_wrong', `Bearer ${token}`, 'Basic abc']) {
    const other = signedOut()
    assert.equal((await other.signIn({ authorization })).status, 200)
    assert.equal((await other.call('POST', '/auth/logout', undefined, { authorization })).status, 204)
    const started = await other.call('POST', '/auth/cli', {}, { authorization })
    assert.equal(started.status, 201)
    const { id, secret } = started.body
    const poll = await other.call('POST', `/auth/cli/${id}/token`, { secret }, { authorization })
    assert.deepEqual(poll.body, { status: 'pending' })
  }
  assert.equal((await browser.call('GET', '/auth/sessions')).body.length, 1)
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
