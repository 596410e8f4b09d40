// Sessions over HTTP: which browsers are signed in, until when, and how each is ended.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SessionRow } from '../../../storage/access/hashed-tokens.ts'
import { until } from '../../support/daemon/service.ts'
import { type AccountApi, outcomeOf, startWithAccount } from '../../support/http/account.ts'
import type { Browser } from '../../support/http/browser.ts'

const dayMs = 24 * 60 * 60_000
const minuteMs = 60_000
const iso = (ms: number) => new Date(ms).toISOString()

const list = async (browser: Browser) => (await browser.call('GET', '/auth/sessions')).body
const secretOf = ({ jar }: Browser) => [...jar.values()][0]!
const rowOf = ({ storage }: AccountApi, browser: Browser): SessionRow =>
  storage.sessions.bySecret(secretOf(browser))!

/** As if it had been used last so long ago. */
async function age(api: AccountApi, browser: Browser, ageMs: number): Promise<void> {
  const row = rowOf(api, browser)
  const aged = { ...row, last_used_at: iso(Date.now() - ageMs) }
  await api.storage.commit((commit) => api.storage.sessions.insert(commit, secretOf(browser), aged))
}

test('the requesting session was last used just now, whenever it was used before', async (t) => {
  const api = await startWithAccount(t)
  await age(api, api.browser, 50 * minuteMs)

  const [own] = await list(api.browser)

  assert.equal(own.current, true)
  assert.ok(Date.now() - Date.parse(own.last_used_at) < 40 * minuteMs, own.last_used_at)
})

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

test('the list is ordered by last use, starting with the current session', async (t) => {
  const api = await startWithAccount(t)
  const others = [await api.signedIn(), await api.signedIn()]
  await age(api, others[0]!, 2 * dayMs)
  await age(api, others[1]!, 3 * dayMs)
  const ids = [api.browser, ...others].map((browser) => rowOf(api, browser).id)
  const order = async () => (await list(api.browser)).map(({ id }: { id: string }) => ids.indexOf(id))

  assert.deepEqual(await order(), [0, 1, 2])
  await list(others[1]!)

  await until('the use to be noted', async () => String(await order()) === '0,2,1')
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
