// The page that approves or denies a terminal login.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../support/daemon/service.ts'
import { type Pages, type ShownPage, startPages } from '../../support/http/pages.ts'

interface Started {
  id: string
  code: string
  secret: string
}

async function startTerminal(pages: Pages, name = 'berth on laptop') {
  const { body } = await pages.call('POST', '/api/v1/auth/cli', { body: { name }, token: null })
  const { id, code, secret } = body as unknown as Started
  const poll = async () =>
    (await pages.call('POST', `/api/v1/auth/cli/${id}/token`, { body: { secret }, token: null })).body
  return { code, poll, path: `/cli-login?id=${id}` }
}

function isOver({ status, text }: ShownPage): boolean {
  return status === 404 && /^This request is over .* berth login http:\/\/127\.0\.0\.1:\d+$/.test(text)
}

test('the page shows the requester, the time, the rights and the code to compare', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()
  const { code, path } = await startTerminal(pages)

  const { status, html, text } = await pages.get(path, session)

  assert.equal(status, 200)
  assert.match(text, /^Connect a terminal\? berth on laptop asked just now , from 127\.0\.0\.1 ,/)
  assert.match(text, / , to be connected to 127\.0\.0\.1:\d+/)
  assert.ok(text.includes(`Code ${code} Approve only when the code here is the one in your terminal.`))
  assert.match(text, /The request expires in 10 minutes\s?\./)
  assert.match(html, /<select [^>]*name="expires_in_days"><option value="" ?>never</)
  assert.doesNotMatch(html, /autofocus/)
})

test('an approved terminal gets its token, and the page refers back to it', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()
  const { path, poll } = await startTerminal(pages)

  const approved = await pages.post(path, { answer: 'approve' }, session)
  const requested = await pages.get(path, session)
  const token = await until('the token', async () => (await poll()).token)
  const collected = await pages.get(path, session)

  for (const page of [approved, requested]) {
    assert.equal(page.status, 200)
    assert.match(page.text, /^Approved Go back to your terminal: berth on laptop is being connected\./)
  }
  assert.equal((await pages.call('GET', '/api/v1/services', { token: String(token) })).status, 200)
  assert.ok(isOver(collected))
})

test('an unknown request, or one without a terminal, has ended', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()

  for (const path of ['/cli-login?id=cli-01', '/cli-login?id=%3Cb%3E', '/cli-login?id=dep-01']) {
    assert.ok(isOver(await pages.get(path, session)), path)
    assert.ok(isOver(await pages.post(path, { answer: 'approve' }, session)), path)
  }
})

test('the page without an id names the command that leads to it', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()

  for (const path of ['/cli-login', '/cli-login?id=']) {
    for (const { text } of [await pages.get(path, session), await pages.post(path, {}, session)]) {
      assert.match(text, /^No terminal to connect .* berth login http:\/\/127\.0\.0\.1:\d+$/)
    }
  }
})

test('a form without a choice changes nothing', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()
  const { path, poll } = await startTerminal(pages)

  const requested = await pages.post(path, { answer: 'constructor' }, session)

  assert.match(requested.text, /^Connect a terminal\?/)
  assert.deepEqual(await poll(), { status: 'pending' })
})

test('a terminal’s name is escaped, and cannot reverse the text around it', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()
  const { path } = await startTerminal(pages, `"><script>alert('1')</script>\u202e`)

  const { html } = await pages.get(path, session)

  assert.ok(html.includes('<bdi>&#34;&#62;&#60;script&#62;alert(&#39;1&#39;)&#60;/script&#62;\u202e</bdi>'))
})
