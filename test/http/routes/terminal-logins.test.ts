// Terminal logins over HTTP: a terminal asks, the administrator answers once, the terminal gets the
// answer once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashSecret } from '../../../storage/access/hashed-tokens.ts'
import { until } from '../../support/daemon/service.ts'
import { type AccountApi, outcomeOf, startWithAccount } from '../../support/http/account.ts'
import {
  type Browser,
  type BrowserAnswer,
  openBrowser,
  type SentHeaders,
} from '../../support/http/browser.ts'
import { startApi } from '../../support/http/http-context.ts'
import { startPages } from '../../support/http/pages.ts'
import { owner } from '../../support/http/session.ts'
import { transitionOf } from '../../support/storage/store-fixtures.ts'

const gone = '404 not_found'

const begin = async (
  { signedOut }: AccountApi,
  body: unknown = { name: 'laptop' },
  headers: SentHeaders = {},
) => signedOut().call('POST', '/auth/cli', body, { 'sec-fetch-site': null, ...headers })

const poll = ({ signedOut }: AccountApi, id: string, secret: string): Promise<BrowserAnswer> =>
  signedOut().call('POST', `/auth/cli/${id}/token`, { secret }, { 'sec-fetch-site': null })

/** Until it is not pending; waits as a terminal does. */
const answered = (api: AccountApi, id: string, secret: string): Promise<BrowserAnswer> =>
  until('the answer', async () => {
    const response = await poll(api, id, secret)
    const isOpen = response.body.status === 'pending' || response.body.code === 'slow_down'
    return isOpen ? null : response
  })

const page = ({ browser }: AccountApi, id: string) => browser.call('GET', `/auth/cli/${id}`)
const approve = ({ browser }: AccountApi, id: string) => browser.call('POST', `/auth/cli/${id}/approve`)
const deny = ({ browser }: AccountApi, id: string) => browser.call('POST', `/auth/cli/${id}/deny`)

const secretHash = hashSecret('secret')

/** One that lives so long. */
async function insertLogin({ context, storage }: AccountApi, lifeMs: number): Promise<string> {
  const [id, now] = [storage.ids.newId('cli'), Date.now()]
  const times = { at: new Date(now).toISOString(), expiresAt: new Date(now + lifeMs).toISOString() }
  const who = { code: 'ACEF-HJKM', name: 'laptop', secretHash, address: '192.0.2.1' }
  const { bootId } = context.terminalLogins
  await context.actors.spawn('terminal-login', id, { id, bootId, ...who, ...times })
  return id
}

/** The record of one whose actor has not noticed yet that it is over. */
async function plantRecord({ context, storage }: AccountApi, changes: object): Promise<string> {
  const [id, now] = [storage.ids.newId('cli'), Date.now()]
  const boot_id = context.terminalLogins.bootId
  const times = { created_at: new Date(now).toISOString(), expires_at: new Date(now + 60_000).toISOString() }
  const who = { code: 'ACEF-HJKM', name: 'laptop', secret_hash: secretHash, address: '192.0.2.1' }
  const record = { id, status: 'pending', boot_id, is_collectable: false, ...times, ...who, ...changes }
  const transition = transitionOf({ id, kind: 'terminal-login', service_id: null })
  await storage.actors.create({ ...transition, record })
  return id
}

test('before setup no terminal can log in', async (t) => {
  const { url } = await startApi(t)

  assert.equal(outcomeOf(await openBrowser(url).call('POST', '/auth/cli', {})), '409 conflict')
})

test('starting a login returns what the terminal shows and what it stores', async (t) => {
  const api = await startWithAccount(t)

  const { status, body } = await begin(api)

  assert.equal(status, 201)
  assert.deepEqual(Object.keys(body).sort(), ['code', 'expires_in', 'id', 'interval', 'secret'])
  assert.deepEqual([body.expires_in, body.interval], [600, 2])
  assert.match(body.id, /^cli-/)
  assert.match(body.secret, /^[\w-]{43}$/)
})

test('the page shows the requester, the code and the expiry, and no secret in any state', async (t) => {
  const api = await startWithAccount(t)
  const { id, code, secret } = (await begin(api)).body

  const { body } = await page(api, id)

  assert.deepEqual(Object.keys(body), ['id', 'code', 'name', 'address', 'status', 'created_at', 'expires_at'])
  assert.deepEqual([body.id, body.code, body.name, body.status], [id, code, 'laptop', 'pending'])
  assert.equal(Date.parse(body.expires_at) - Date.parse(body.created_at), 600_000)
  assert.deepEqual((await approve(api, id)).body, { ...body, status: 'approved' })
  assert.deepEqual((await page(api, id)).body, { ...body, status: 'approved' })
  const label = JSON.stringify((await page(api, id)).body)
  assert.ok(!label.includes(secret) && !label.includes(hashSecret(secret)) && !label.includes('bth_'))
})

test('a name is optional, trimmed, at most 100 characters, and passed to the token', async (t) => {
  const api = await startWithAccount(t)
  const nameOf = async (body: unknown) => (await page(api, (await begin(api, body)).body.id)).body.name

  const general = await nameOf({})
  for (const body of [{ name: '' }, { name: '  ' }, { name: null }]) {
    assert.equal(await nameOf(body), general)
  }
  assert.equal(await nameOf({ name: ` ${'x'.repeat(100)} ` }), 'x'.repeat(100))
  for (const name of ['x'.repeat(101), 'a\nb', 7]) {
    assert.equal(outcomeOf(await begin(api, { name })), '400 invalid_request')
  }
  assert.equal(outcomeOf(await begin(api, { title: 'x' })), '400 invalid_request')
})

test('after approval the terminal gets its token once; then the request is deleted', async (t) => {
  const api = await startWithAccount(t)
  const { id, secret } = (await begin(api)).body
  assert.deepEqual((await poll(api, id, secret)).body, { status: 'pending' })

  assert.equal((await approve(api, id)).body.status, 'approved')
  const { status, body } = await answered(api, id, secret)

  assert.deepEqual([status, Object.keys(body), body.status], [200, ['status', 'token'], 'approved'])
  assert.match(body.token, /^bth_[\w-]{43}$/)
  assert.equal((await api.call('GET', '/api/v1/info', { token: body.token })).status, 200)
  const [token] = (await api.browser.call('GET', '/auth/tokens')).body
  assert.deepEqual([token.name, token.hint, token.expires_at], ['laptop', body.token.slice(-4), null])
  assert.equal(outcomeOf(await poll(api, id, secret)), gone)
  assert.equal(outcomeOf(await page(api, id)), gone)
})

test('concurrent polls receive the token once', async (t) => {
  const api = await startWithAccount(t)
  const { id, secret } = (await begin(api)).body
  await approve(api, id)
  await until('the token', async () => api.storage.actors.record(id)?.is_collectable)

  const came = await Promise.all(Array.from({ length: 20 }, () => poll(api, id, secret)))

  assert.equal(came.filter(({ body }) => body.token).length, 1)
  assert.equal(api.context.terminalLogins.uncollected.size, 0)
})

test('after a denial the terminal learns it once; then the request is deleted', async (t) => {
  const api = await startWithAccount(t)
  const { id, secret } = (await begin(api)).body

  const { status, body } = await deny(api, id)
  assert.deepEqual([status, body.status], [200, 'denied'])
  assert.equal((await page(api, id)).body.status, 'denied')
  assert.deepEqual((await poll(api, id, secret)).body, { status: 'denied' })

  assert.equal(outcomeOf(await poll(api, id, secret)), gone)
  assert.deepEqual(api.storage.tokens.list(), [])
})

test('answered, unknown and expired requests, and those before a restart, cannot be answered', async (t) => {
  const api = await startWithAccount(t)
  const ids: Record<string, string> = {
    unknown: 'cli-01hnzxd07m5cen5xa66emzsrzw',
    'no id of a login': api.storage.sessions.list()[0]!.id,
    expired: await plantRecord(api, { expires_at: new Date(Date.now() - 1).toISOString() }),
    'of an earlier life': await plantRecord(api, { boot_id: 'earlier' }),
    over: await plantRecord(api, { status: 'collected' }),
  }
  for (const [what, answer] of Object.entries({ approved: approve, denied: deny })) {
    ids[what] = (await begin(api)).body.id
    await answer(api, ids[what]!)
  }

  for (const [what, id] of Object.entries(ids)) {
    assert.equal(outcomeOf(await approve(api, id)), gone, what)
    assert.equal(outcomeOf(await deny(api, id)), gone, what)
    const isOpen = what === 'approved' || what === 'denied'
    assert.equal(outcomeOf(await page(api, id)), isOpen ? '200' : gone, what)
    assert.equal(outcomeOf(await poll(api, id, 'wrong')), isOpen ? '403 invalid_secret' : gone, what)
  }
})

test('a wrong secret reveals nothing, and neither ends nor slows the request', async (t) => {
  const api = await startWithAccount(t)
  const { id, secret } = (await begin(api)).body
  const before = (await page(api, id)).body

  for (const wrong of ['', 'wrong', secret.slice(1), `${secret}x`, hashSecret(secret)]) {
    assert.equal(outcomeOf(await poll(api, id, wrong)), '403 invalid_secret')
  }
  assert.deepEqual((await page(api, id)).body, before)
  await approve(api, id)
  assert.equal(outcomeOf(await poll(api, id, 'wrong')), '403 invalid_secret')

  assert.equal((await answered(api, id, secret)).body.status, 'approved')
})

test('too frequent polls get slow_down, without a delay for later ones', async (t) => {
  const api = await startWithAccount(t)
  const { id, secret } = (await begin(api)).body

  const polls = await Promise.all([poll(api, id, secret), poll(api, id, secret)])
  const tooSoon = polls.find(({ status }) => status === 429)!
  assert.deepEqual(polls.find((one) => one !== tooSoon)!.body, { status: 'pending' })
  assert.deepEqual([outcomeOf(tooSoon), tooSoon.headers['retry-after']], ['429 slow_down', '2'])
  await approve(api, id)

  assert.equal((await answered(api, id, secret)).body.status, 'approved')
})

test('an uncollected approved token ends with the request', async (t) => {
  const api = await startWithAccount(t)
  const id = await insertLogin(api, 5000)
  await approve(api, id)
  const token = await until('the token', async () => api.context.terminalLogins.uncollected.get(id))

  await until(
    'the end of the token',
    async () => (await api.call('GET', '/api/v1/info', { token })).status === 401,
  )

  assert.equal(outcomeOf(await poll(api, id, 'secret')), gone)
  assert.deepEqual((await api.browser.call('GET', '/auth/tokens')).body, [])
})

const dayMs = 24 * 60 * 60_000
const minuteMs = 60_000

async function beginId({ signedOut }: AccountApi): Promise<string> {
  return (await signedOut().call('POST', '/auth/cli', { name: 'laptop' })).body.id
}

const approveWith = (browser: Browser, id: string, body: object = {}) =>
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
  const id = await beginId(api)

  const response = await approveWith(api.browser, id, {
    role: 'deploy',
    services: ['shop'],
    expires_in_days: 7,
  })

  assert.equal(outcomeOf(response), '200')
  const row = await tokenOf(api, id)
  assert.deepEqual([row.role, row.services], ['deploy', [api.storage.services.get('shop')!.id]])
  assert.equal(Date.parse(row.expires_at!) - Date.parse(row.created_at), 7 * dayMs)
})

test('a session older than ten minutes requires the password', async (t) => {
  const api = await startWithAccount(t)
  const id = await beginId(api)
  await age(api, api.browser, 11 * minuteMs)

  assert.equal(outcomeOf(await approveWith(api.browser, id)), '403 password_required')
  const wrong = await approveWith(api.browser, id, { password: 'a wild guess' })
  assert.equal(outcomeOf(wrong), '401 invalid_credentials')
  assert.deepEqual(api.storage.tokens.list(), [])

  assert.equal(outcomeOf(await approveWith(api.browser, id, { password: owner.password })), '200')
  assert.equal((await tokenOf(api, id)).role, 'admin')
})

test('a recent session requires no password, but a wrong one is rejected', async (t) => {
  const api = await startWithAccount(t)
  await age(api, api.browser, 9 * minuteMs)

  const wrong = await approveWith(api.browser, await beginId(api), { password: 'a wild guess' })
  assert.equal(outcomeOf(wrong), '401 invalid_credentials')
  assert.equal(outcomeOf(await approveWith(api.browser, await beginId(api))), '200')
})

test('approvals and password changes share a limit, and denying needs no password', async (t) => {
  const api = await startWithAccount(t)
  const id = await beginId(api)
  await age(api, api.browser, 11 * minuteMs)
  for (let count = 0; count < 10; count++) {
    const wrong = await approveWith(api.browser, id, { password: `guess ${count}` })
    assert.equal(wrong.body.detail, 'the password is wrong')
  }

  const refused = await approveWith(api.browser, id, { password: owner.password })
  assert.match(refused.body.detail, /^too many attempts: further ones are refused for another /)
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
