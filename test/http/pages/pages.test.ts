// The pages that let people in: setup and signing in, and what all pages have in common.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routes } from '../../../src/http/pipeline/routes.ts'
import { cookieOf, ownForm, type Pages, type ShownPage, startPages } from '../../support/http/pages.ts'
import { owner } from '../../support/http/session.ts'

const password = owner.password

async function codeFields(pages: Pages, fields: Record<string, string> = {}) {
  return { code: pages.setupCode(), email: owner.email, password, ...fields }
}

test('on a new server every page redirects to the instructions for the setup link', async (t) => {
  const pages = await startPages(t)

  const start = await pages.get('/')
  const account = await pages.get('/account')
  const terminal = await pages.get('/cli-login?id=cli-1')
  const login = await pages.get('/login')
  const signIn = await pages.post('/login', owner)

  assert.deepEqual([start.status, start.location], [303, '/account'])
  assert.deepEqual([account.status, account.location], [303, '/login?next=%2Faccount'])
  assert.deepEqual(terminal.location, '/login?next=%2Fcli-login%3Fid%3Dcli-1')
  assert.deepEqual([login.status, signIn.status], [200, 409])
  for (const { text } of [login, signIn]) assert.match(text, /it printed a link to create the account/)
  assert.match(login.html, /href="\/setup"/)
  assert.match((await pages.get(terminal.location!)).html, /href="\/setup\?next=%2Fcli-login%3Fid%3Dcli-1"/)
})

test('the link fills in the setup code', async (t) => {
  const pages = await startPages(t)

  const linked = await pages.get(`/setup?code=${pages.setupCode()}`)
  const bare = await pages.get('/setup')

  assert.match(linked.html, /<input id="code"[^>]* value="[\w-]{24}"/)
  assert.match(linked.html, /<input id="email"[^>]* required autofocus/)
  assert.match(bare.html, /<input id="code"[^>]* required autofocus/)
  for (const { html } of [linked, bare]) {
    assert.match(html, /name="email" type="text" autocomplete="username" inputmode="email"/)
    assert.match(html, /name="password" type="password" autocomplete="new-password"/)
  }
})

test('a link with a wrong code says so at once', async (t) => {
  const pages = await startPages(t)
  const code = pages.setupCode()

  for (const wrong of ['x', code.slice(1), `${code}x`]) {
    const page = await pages.get(`/setup?code=${wrong}`)
    assert.equal(page.status, 403)
    assert.match(problemAt(page, 'code'), /^This is not the setup code of this server\./)
    assert.match(page.html, new RegExp(`<input id="code"[^>]*value="${wrong}"[^>]*autofocus`))
  }
})

test('a signed-in browser that opens the setup page is redirected', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()

  for (const path of ['/setup', '/setup?code=wrong']) {
    const page = await pages.get(path, { ...session })
    assert.deepEqual([page.status, page.location], [303, '/'])
  }
  assert.equal((await pages.get('/setup?next=/cli-login?id=cli-1', session)).location, '/cli-login?id=cli-1')
})

test('every page leads to the manual, and those of a user to the account, git and the way out', async (t) => {
  const pages = await startPages(t)
  const before = [await pages.get('/setup'), await pages.get('/login')]
  const session = await pages.signUp()
  const paths = { visitor: ['/setup', '/login', '/nothing'], manual: ['/docs', '/docs/limits'] }
  const inside = ['/account', '/git/start', '/git/callback', '/git/callback?state=a', '/cli-login?id=cli-1']
  const linksIn = ({ html }: ShownPage) =>
    [.../<header>[\s\S]*<\/header>/.exec(html)![0].matchAll(/href="([^"]*)"/g)].map(([, path]) => path)
  const isLeavable = ({ html }: ShownPage) => html.includes('value="sign-out"')

  for (const page of [...before, ...(await Promise.all(paths.visitor.map((path) => pages.get(path))))]) {
    assert.deepEqual([linksIn(page), isLeavable(page)], [['/', '/docs'], false])
  }
  for (const page of await Promise.all(paths.manual.map((path) => pages.get(path)))) {
    assert.deepEqual([linksIn(page), isLeavable(page)], [['/', '/docs'], false])
  }
  for (const page of await Promise.all(inside.map((path) => pages.get(path, { ...session })))) {
    assert.deepEqual([linksIn(page), isLeavable(page)], [['/', '/account', '/git/start', '/docs'], true])
  }
})

test('errors of a setup are shown next to their field; only the password is cleared', async (t) => {
  const pages = await startPages(t)
  const code = pages.setupCode()

  const wrongCode = await pages.post(`/setup?code=x`, await codeFields(pages, { code: 'x' }))
  const wrongRest = await pages.post('/setup', { code, email: 'ada', password: 'hunter2' })

  assert.equal(wrongCode.status, 403)
  assert.match(wrongCode.html, /<input id="code"[^>]*value="x"[^>]*autofocus[^>]*aria-invalid="true"/)
  assert.match(problemAt(wrongCode, 'code'), /^This is not the setup code of this server\./)
  assert.match(wrongCode.html, /<input id="email"[^>]*value="ada@example\.com"/)
  assert.equal(wrongRest.status, 400)
  assert.equal(problemAt(wrongRest, 'email'), 'Must be an e-mail address.')
  assert.equal(problemAt(wrongRest, 'password'), 'Must have 8 to 1024 characters.')
  for (const { html } of [wrongCode, wrongRest]) assert.doesNotMatch(html, /correct horse|hunter2/)
  assert.equal(pages.context.administrator.get(), null)
})

test('a server with an account rejects another setup', async (t) => {
  const pages = await startPages(t)
  const fields = await codeFields(pages)
  await pages.post('/setup', fields)

  const view = await pages.get(`/setup?code=${fields.code}&next=/cli-login?id=cli-1`)
  const sent = await pages.post('/setup', fields)

  assert.deepEqual([view.status, sent.status], [200, 409])
  for (const { text } of [view, sent]) assert.match(text, /It already has an account: sign in instead/)
  assert.match(view.html, /href="\/login\?next=%2Fcli-login%3Fid%3Dcli-1"/)
  assert.match(sent.html, /href="\/login"/)
})

test('signing in redirects, and a signed-in browser is redirected immediately', async (t) => {
  const pages = await startPages(t)
  await pages.signUp()

  const view = await pages.get('/login?next=/cli-login?id=cli-1')
  const sent = await pages.post('/login?next=/cli-login?id=cli-1', { ...owner, email: ' ADA@example.com ' })
  const again = await pages.get('/login', cookieOf(sent))

  assert.match(view.text, /^Sign in to 127\.0\.0\.1:\d+/)
  assert.match(view.html, /name="password" type="password" autocomplete="current-password"/)
  assert.deepEqual([sent.status, sent.location], [303, '/cli-login?id=cli-1'])
  assert.deepEqual([again.status, again.location], [303, '/'])
})

test('signing in redirects only to this server', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()
  const elsewhere = [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'evil.example',
    '/\t/evil.example',
    '/\r\n//evil.example',
    'javascript:alert(1)',
    ' /account',
    '/ä',
    '',
  ]

  for (const next of elsewhere) {
    const path = `/login?${new URLSearchParams({ next })}`
    assert.deepEqual([next, (await pages.get(path, session)).location], [next, '/'])
  }
  const base = 'http://berth.test'
  for (const next of ['/cli-login?id=cli-1', '/.//evil.example', '/login?next=//evil.example', '/@evil']) {
    const path = `/login?${new URLSearchParams({ next })}`
    const { location } = await pages.get(path, session)
    assert.deepEqual([location, new URL(location!, base).origin], [next, base])
  }
})

test('a wrong password is reported in place, and so is the wait after too many', async (t) => {
  const pages = await startPages(t)
  await pages.signUp()
  const { attempts } = pages.storage

  const wrong = await pages.post('/login', { ...owner, password: 'hunter2hunter2' })
  for (let count = 1; count < 10; count++) {
    await attempts.record(attempts.create('sign_in', Date.now() - 100_000), () => false)
  }
  const refused = await pages.post('/login', owner)

  assert.equal(wrong.status, 401)
  assert.match(wrong.html, /role="alert"><p><strong>The e-mail or the password is wrong\./)
  assert.match(wrong.html, /<input id="email"[^>]*value="ada@example\.com"/)
  assert.doesNotMatch(wrong.html, /hunter2/)
  assert.equal(refused.status, 429)
  assert.match(
    refused.text,
    /Too many attempts: further ones are refused for another 3m \d\ds\. On the server, berthd/,
  )
  assert.ok(Number(refused.headers.get('retry-after')) <= 200)
})

test('forms from other sites are rejected and change nothing', async (t) => {
  const pages = await startPages(t)
  const fields = await codeFields(pages)
  const { cookie } = await pages.signUp()
  const forms = routes.filter((route) => route.isPage && route.method === 'POST').map(({ path }) => path)

  assert.deepEqual(forms, ['/setup', '/login', '/cli-login', '/account', '/git/start', '/git/callback'])
  for (const path of forms) {
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'http://evil.example' },
      { cookie },
    ]) {
      const page = await pages.post(path, { ...fields, act: 'sign-out' }, { cookie, ...headers })
      assert.deepEqual([path, page.status, page.headers.getSetCookie()], [path, 403, []])
      assert.match(page.text, /^Forbidden This request does not come from a page of this server\./)
    }
  }
  assert.equal((await pages.get('/account', { cookie })).status, 200)
})

test('an error is a page for a browser, and a problem document for a program', async (t) => {
  const pages = await startPages(t)
  const form = 'application/x-www-form-urlencoded'
  const send = (body: string, type = form) =>
    pages.ask('/login', { method: 'POST', body, headers: { ...ownForm, 'content-type': type } })

  const responses: [number, ShownPage][] = [
    [404, await pages.get('/nothing/here')],
    [405, await pages.ask('/login', { method: 'DELETE' })],
    [413, await send(`email=${'a'.repeat(16 * 1024)}`)],
    [415, await send('{"email":"ada@example.com"}', 'application/json')],
    [415, await send('email=ada', 'text/plain')],
    [400, await send('email=ada&email=bob')],
    [400, await pages.get('/login?next=/a&next=/b')],
  ]
  const programs = await pages.call('GET', '/nothing/here', { token: null })

  for (const [status, page] of responses) assert.equal(page.status, status)
  assert.equal(responses[1]![1].headers.get('allow'), 'GET, POST, HEAD, OPTIONS')
  assert.match(
    responses[0]![1].text,
    /^Not Found There is nothing at \/nothing\/here\. Back to the start page 404/,
  )
  assert.deepEqual([programs.status, programs.body.code], [404, 'not_found'])
})

test('the style sheet and the icon are served by this server', async (t) => {
  const { call } = await startPages(t)

  const style = await call('GET', '/berth.css', { token: null })
  const icon = await call('GET', '/berth.svg', { token: null })

  assert.deepEqual([style.status, style.headers.get('content-type')], [200, 'text/css; charset=utf-8'])
  assert.doesNotMatch(style.text, /url\(|@import/)
  assert.deepEqual([icon.status, icon.headers.get('content-type')], [200, 'image/svg+xml'])
})

/** What stands below a field. */
function problemAt({ html }: ShownPage, name: string): string {
  return (
    new RegExp(`<p class="problem" id="${name}-note">(.*?)</p>`).exec(html)?.[1]?.replace(/<[^>]*>/g, '') ??
    ''
  )
}
