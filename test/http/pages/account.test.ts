// The account's page: who is signed in, sessions, tokens, password. And how one gets to a page of one's own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routes } from '../../../src/http/pipeline/routes.ts'
import { token } from '../../support/http/http-context.ts'
import { cookieOf, ownForm, type Pages, type ShownPage, startPages } from '../../support/http/pages.ts'
import { owner, type SessionHeaders, signIn } from '../../support/http/session.ts'

const hostile = `"><script>alert('1')</script>&amp;<b onclick=x>`
const escaped = '&#34;&#62;&#60;script&#62;alert(&#39;1&#39;)&#60;/script&#62;&#38;amp;&#60;b onclick=x&#62;'

/** Sends one of the account's forms. */
function actor(pages: Pages, session: SessionHeaders) {
  return (act: string, fields: Record<string, string> = {}) =>
    pages.post('/account', { act, ...fields }, session)
}

function tokenIn({ html }: ShownPage): string {
  return /bth_[\w-]{43}/.exec(html)?.[0] ?? ''
}

test('a signed-out browser is redirected to sign in, and back', async (t) => {
  const pages = await startPages(t)
  await pages.signUp()
  const inside = routes.filter((route) => route.isPage && /^\/(account|cli-login)$/.test(route.path))

  assert.equal(inside.length, 4)
  for (const { method, path } of inside) {
    for (const headers of [{}, { authorization: `Bearer ${token}` }, { cookie: 'svc_session_1=bths_x' }]) {
      const query = path === '/account' ? '' : '?id=cli-1&x=%22'
      const response = await pages.ask(path + query, { method, headers: { ...ownForm, ...headers } })
      const back = path === '/account' ? '?next=%2Faccount' : '?next=%2Fcli-login%3Fid%3Dcli-1%26x%3D%2522'
      assert.deepEqual([method, path, response.status], [method, path, 303])
      assert.equal(response.location, `/login${back}`)
    }
  }
})

test('a link on another site, which sends no cookie, is followed once more from here', async (t) => {
  const pages = await startPages(t)
  await pages.signUp()
  const path = `/cli-login?id=cli-1&x=${encodeURIComponent(hostile)}`
  const elsewhere = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { referer: 'https://chat.example/' },
  ]
  const here = [
    {},
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-origin' },
    { referer: `${pages.url}/` },
  ]

  for (const headers of elsewhere) {
    const page = await pages.get(path, headers)
    const [, address] = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(page.html) ?? []
    assert.equal(page.status, 200)
    assert.match(address!, /^\/cli-login\?id=cli-1&#38;x=%22%3E%3Cscript[^;]*&#38;reloaded=1$/)

    const again = await pages.get(address!.replaceAll('&#38;', '&'), headers)
    assert.equal(again.status, 303)
    assert.match(again.location!, /^\/login\?next=%2Fcli-login%3Fid%3Dcli-1%26x%3D/)
    assert.doesNotMatch(again.location!, /reloaded/)
  }
  for (const headers of here) assert.equal((await pages.get(path, headers)).status, 303)
})

test('the account shows the user, the sessions and the tokens; every text is escaped', async (t) => {
  const pages = await startPages(t)
  const fields = { code: pages.setupCode(), email: '<i>@example.com', password: owner.password }
  const session = cookieOf(await pages.post('/setup', fields, { ...ownForm, 'user-agent': hostile }))
  const act = actor(pages, session as SessionHeaders)

  await act('create-token', { name: hostile, expires_in_days: '30' })
  const page = await pages.get('/account', session)
  const refused = await act('create-token', { name: hostile, expires_in_days: hostile })

  assert.match(page.html, /Signed in as <strong>&#60;i&#62;@example\.com<\/strong>/)
  assert.ok(page.html.includes(`<bdi>${escaped}</bdi>`))
  assert.ok(page.html.includes(`<strong>${escaped}</strong>`), 'the browser')
  assert.match(page.text, /Created just now , never used, expires in 30 days/)
  assert.match(page.text, /this one Signed in just now/)
  assert.equal(refused.status, 400)
  assert.ok(refused.html.includes(`name="name" type="text" value="${escaped}"`))
})

test('a token is shown once, works immediately, and stops when it is revoked', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()
  const act = actor(pages, session)

  const token = tokenIn(await act('create-token', { name: 'ci', expires_in_days: '' }))
  const works = await pages.call('GET', '/api/v1/services', { token })
  const view = await pages.get('/account', session)
  const [, id] = /name="id" value="(tok-\w+)"/.exec(view.html)!
  const revoked = await act('revoke-token', { id: id! })
  const twice = await act('revoke-token', { id: id! })

  assert.equal(works.status, 200)
  assert.doesNotMatch(view.html, /bth_/)
  assert.match(view.text, /never expires/)
  assert.deepEqual([revoked.status, revoked.location], [303, '/account'])
  assert.equal((await pages.call('GET', '/api/v1/services', { token })).status, 401)
  assert.equal(twice.status, 404)
  assert.match(twice.html, /role="alert"><p><strong>There is no such token\./)
})

test('a new account is told what comes next, until it has a token', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()
  const command = `berth login ${pages.url}`

  const first = await pages.get('/account', session)
  await actor(pages, session)('create-token', { name: 'ci', expires_in_days: '' })
  const later = await pages.get('/account', session)

  assert.match(first.text, /Next: connect your terminal Run this where your code is\./)
  assert.match(first.html, /href="\/docs\/getting-started"/)
  assert.doesNotMatch(later.text, /Next:/)
  for (const { html, text } of [first, later]) {
    assert.ok(html.includes(`<code>${command}</code>`))
    assert.match(html, /href="\/docs\/cli"/)
    assert.ok(text.includes(`${command} --code ${pages.context.terminalLogins.startCode.current()}`))
  }
})

test('a session can be ended from another one, and the page does not offer it for itself', async (t) => {
  const pages = await startPages(t)
  const other = await pages.signUp()
  const session = await signIn(pages.url)

  const { html } = await pages.get('/account', session)
  const ids = [...html.matchAll(/name="id" value="(ses-\w+)"/g)].map(([, id]) => id!)
  const ended = await actor(pages, session)('end-session', { id: ids[0]! })

  assert.equal(ids.length, 1)
  assert.deepEqual([ended.status, ended.location], [303, '/account'])
  assert.equal((await pages.get('/account', other)).location, '/login?next=%2Faccount')
  assert.equal((await pages.get('/account', session)).status, 200)
})

test('a new password requires the current one, and ends the other sessions', async (t) => {
  const pages = await startPages(t)
  const other = await pages.signUp()
  const session = await signIn(pages.url)
  const change = (current_password: string, new_password: string) =>
    actor(pages, session)('change-password', { current_password, new_password })

  const short = await change(owner.password, 'hunter2')
  const wrong = await change('not the one', 'battery staple')
  const done = await change(owner.password, 'battery staple')

  assert.equal(short.status, 400)
  assert.match(short.html, /class="problem" id="new_password-note">Must have 8 to 1024 characters\.</)
  assert.equal(wrong.status, 401)
  assert.match(wrong.html, /id="current_password-note">The password is wrong\.</)
  for (const { html } of [short, wrong]) assert.doesNotMatch(html, /hunter2|not the one|staple/)
  assert.equal(done.status, 200)
  assert.match(done.html, /role="status"><p><strong>The password is changed, and every other session has/)
  assert.equal((await pages.get('/account', other)).location, '/login?next=%2Faccount')
  assert.equal((await pages.post('/login', { ...owner, password: 'battery staple' })).status, 303)
})

test('signing out ends the session and clears its cookie', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()

  const out = await actor(pages, session)('sign-out')

  assert.deepEqual([out.status, out.location], [303, '/login'])
  assert.match(out.headers.get('set-cookie')!, /^svc_session_\d+=; .*Max-Age=0/)
  assert.equal((await pages.get('/account', session)).location, '/login?next=%2Faccount')
})

test('a form with an unknown action is rejected', async (t) => {
  const pages = await startPages(t)
  const act = actor(pages, await pages.signUp())

  for (const name of ['', 'constructor', 'sign-out ']) {
    const page = await act(name)
    assert.equal(page.status, 400)
    assert.match(page.text, /The form does not say what to do\./)
  }
})
