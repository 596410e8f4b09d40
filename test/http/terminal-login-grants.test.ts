// What the administrator grants a terminal: the role and the end of its token. A session that began a while
// ago also needs the password.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/daemon/service.ts'
import { type AccountApi, outcomeOf, startWithAccount } from '../support/http/account.ts'
import type { Browser } from '../support/http/browser.ts'
import { startPages } from '../support/http/pages.ts'
import { owner } from '../support/http/session.ts'

const dayMs = 24 * 60 * 60_000
const minuteMs = 60_000

async function begin({ signedOut }: AccountApi): Promise<string> {
  return (await signedOut().call('POST', '/auth/cli', { name: 'laptop' })).body.id
}

const approve = (browser: Browser, id: string, body: object = {}) =>
  browser.call('POST', `/auth/cli/${id}/approve`, body)

/** The record of the token, once it was made. */
const tokenOf = ({ storage }: Pick<AccountApi, 'storage'>, id: string) =>
  until('the token', async () => storage.tokens.byId(id.replace('cli-', 'tok-')))

/** Makes the session of the browser that old. */
async function age({ storage }: AccountApi, browser: Browser, ageMs: number): Promise<void> {
  const secret = [...browser.jar.values()].find((value) => value.startsWith('bths_'))!
  const row = storage.sessions.bySecret(secret)!
  const created_at = new Date(Date.now() - ageMs).toISOString()
  await storage.commit((commit) => storage.sessions.insert(commit, secret, { ...row, created_at }))
}

test('an approval grants the role, the services and the expiry that it names', async (t) => {
  const api = await startWithAccount(t)
  await api.call('POST', '/api/v1/services', { body: { name: 'shop' } })
  const id = await begin(api)

  const response = await approve(api.browser, id, { role: 'deploy', services: ['shop'], expires_in_days: 7 })

  assert.equal(outcomeOf(response), '200')
  const row = await tokenOf(api, id)
  assert.deepEqual([row.role, row.services], ['deploy', [api.storage.services.get('shop')!.id]])
  assert.equal(Date.parse(row.expires_at!) - Date.parse(row.created_at), 7 * dayMs)
})

test('a session older than ten minutes requires the password', async (t) => {
  const api = await startWithAccount(t)
  const id = await begin(api)
  await age(api, api.browser, 11 * minuteMs)

  assert.equal(outcomeOf(await approve(api.browser, id)), '403 password_required')
  const wrong = await approve(api.browser, id, { password: 'a wild guess' })
  assert.equal(outcomeOf(wrong), '401 invalid_credentials')
  assert.deepEqual(api.storage.tokens.list(), [])

  assert.equal(outcomeOf(await approve(api.browser, id, { password: owner.password })), '200')
  assert.equal((await tokenOf(api, id)).role, 'admin')
})

test('a recent session requires no password, but a wrong one is rejected', async (t) => {
  const api = await startWithAccount(t)
  await age(api, api.browser, 9 * minuteMs)

  const wrong = await approve(api.browser, await begin(api), { password: 'a wild guess' })
  assert.equal(outcomeOf(wrong), '401 invalid_credentials')
  assert.equal(outcomeOf(await approve(api.browser, await begin(api))), '200')
})

test('approvals and password changes share a limit, and denying needs no password', async (t) => {
  const api = await startWithAccount(t)
  const id = await begin(api)
  await age(api, api.browser, 11 * minuteMs)
  for (let count = 0; count < 10; count++) {
    const wrong = await approve(api.browser, id, { password: `guess ${count}` })
    assert.equal(wrong.body.detail, 'the password is wrong')
  }

  const refused = await approve(api.browser, id, { password: owner.password })
  assert.match(refused.body.detail, /^too many failed attempts: passwords are refused for another /)
  assert.equal(outcomeOf(refused), '429 too_many_attempts')
  assert.equal(outcomeOf(await api.browser.call('POST', `/auth/cli/${id}/deny`)), '200')
})

test('the page grants the chosen rights, and prompts again after a wrong password', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()
  const { body } = await pages.call('POST', '/api/v1/auth/cli', { body: {}, token: null })
  const path = `/cli-login?id=${body.id}`
  const [row] = pages.storage.sessions.list()
  const fresh = await pages.get(path, session)
  const secret = session.cookie.split('=')[1]!
  const old = { ...row!, created_at: '2026-01-01T00:00:00.000Z' }
  await pages.storage.commit((commit) => pages.storage.sessions.insert(commit, secret, old))

  const view = await pages.get(path, session)
  const chosen = { answer: 'approve', role: 'read', expires_in_days: '30' }
  const missing = await pages.post(path, { ...chosen, password: '' }, session)
  const wrong = await pages.post(path, { ...chosen, password: 'a wild guess' }, session)
  const approved = await pages.post(path, { ...chosen, password: owner.password }, session)

  assert.doesNotMatch(fresh.html, /type="password"/)
  assert.match(view.html, /type="password"/)
  assert.match(view.html, /value="admin" checked/)
  assert.deepEqual([missing.status, wrong.status, approved.status], [403, 401, 200])
  for (const page of [missing, wrong]) {
    assert.match(page.html, /id="password-note"/)
    assert.match(page.html, /value="read" checked/)
    assert.match(page.html, /<option value="30" selected>/)
  }
  const token = await tokenOf(pages, String(body.id))
  assert.equal(token.role, 'read')
  assert.equal(Date.parse(token.expires_at!) - Date.parse(token.created_at), 30 * dayMs)
})

test('the account page creates a token with a role, services and an expiry, and lists them', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()
  for (const name of ['shop', 'blog']) await pages.call('POST', '/api/v1/services', { body: { name } })
  const fields = {
    act: 'create-token',
    name: 'ci',
    role: 'deploy',
    services: 'shop, blog',
    expires_in_days: '30',
  }

  const created = await pages.post('/account', fields, session)
  const refused = await pages.post('/account', { ...fields, role: 'admin' }, session)

  assert.match(
    created.text,
    /ci …\S{4} deploy Only for shop, blog Created just now , never used, expires in 30 days/,
  )
  assert.equal(refused.status, 400)
  assert.match(refused.html, /id="services-note">An admin token cannot be limited to services\.</)
  assert.equal(pages.storage.tokens.list().length, 1)
})

test('a password change on the page revokes the tokens if its box is checked', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()
  await pages.post('/account', { act: 'create-token', name: 'ci' }, session)
  const renewal = {
    act: 'change-password',
    current_password: owner.password,
    new_password: 'another battery',
  }

  const kept = await pages.post('/account', renewal, session)
  assert.doesNotMatch(kept.text, /tokens are revoked/)
  assert.equal(pages.storage.tokens.list().length, 1)
  const back = { ...renewal, current_password: 'another battery', new_password: owner.password }
  const revoked = await pages.post('/account', { ...back, revoke_tokens: 'true' }, session)

  assert.match(revoked.text, /All API tokens are revoked\./)
  assert.deepEqual(pages.storage.tokens.list(), [])
})

test('the API revokes the tokens with a password change, and their streams end', async (t) => {
  const api = await startWithAccount(t)
  const { token } = (await api.browser.call('POST', '/auth/tokens', { name: 'ci' })).body
  const stream = await fetch(`${api.url}/api/v1/events`, { headers: { authorization: `Bearer ${token}` } })
  const change = { current_password: owner.password, new_password: 'another battery', revoke_tokens: true }

  const wrong = { ...change, current_password: 'a wild guess' }
  assert.equal(outcomeOf(await api.browser.call('POST', '/auth/password', wrong)), '401 invalid_credentials')
  assert.equal((await api.call('GET', '/api/v1/info', { token })).status, 200)
  assert.equal(outcomeOf(await api.browser.call('POST', '/auth/password', change)), '204')

  await stream.text()
  assert.equal((await api.call('GET', '/api/v1/info', { token })).status, 401)
})
