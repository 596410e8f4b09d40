// Connecting a git account in a real browser: to the provider and back, across sites.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'puppeteer-core'
import { createGitProvider } from '../../support/git/git-provider.ts'
import { checkLayout } from '../../support/http/page-layout.ts'
import { startPages } from '../../support/http/pages.ts'
import { owner } from '../../support/http/session.ts'
import {
  desktop,
  lackOfBrowser,
  openChromium,
  openVisitor,
  phone,
  press,
  type Screen,
  textAt,
} from '../../support/system/chromium.ts'
import { sized } from '../../support/system/drill-size.ts'

const inBrowser = { skip: (await lackOfBrowser()) ?? false }
const screens: Screen[] = [
  { viewport: phone, scheme: 'dark' },
  { viewport: desktop, scheme: 'light' },
]

async function signIn(page: Page): Promise<void> {
  await page.type('#email', owner.email)
  await page.type('#password', owner.password)
  await press(page, 'main form button')
}

/** The user agrees on the page of the provider, comes back, and continues. */
async function agree(page: Page): Promise<void> {
  await page.waitForSelector('#back')
  await page.click('#back')
  await page.waitForSelector('form[action="/git/callback"]')
  await press(page, 'main form button')
}

for (const screen of sized(screens.slice(0, 1), screens)) {
  const title = `${screen.viewport.width} px, ${screen.scheme}`

  test(`${title}: an app of GitHub is registered, installed and connected`, inBrowser, async (t) => {
    const [pages, provider] = [await startPages(t), await createGitProvider(t, { host: 'localhost' })]
    await pages.signUp()
    const { page, complaints } = await openVisitor(await openChromium(t), screen)

    await page.goto(`${pages.url}/git/start?base_url=${provider.url}`)
    await signIn(page)
    await checkLayout(page, screen)
    await press(page, 'main form button')
    assert.match(await textAt(page, 'h1'), /^Continue at localhost/)
    await press(page, 'main form button')
    await agree(page)
    await agree(page)
    await page.waitForSelector('.command')
    assert.equal(await textAt(page, 'h1'), 'Connected')
    assert.equal(await textAt(page, '.lead strong'), 'ada')
    await checkLayout(page, screen)
    assert.deepEqual(complaints, [])
  })

  test(
    `${title}: an account of GitLab is connected, the second time without its application`,
    inBrowser,
    async (t) => {
      const pages = await startPages(t)
      const redirectUri = `${pages.url}/git/callback`
      const provider = await createGitProvider(t, { host: 'localhost', redirectUri })
      await pages.signUp()
      const { page, complaints } = await openVisitor(await openChromium(t), screen)
      await page.goto(`${pages.url}/git/start?provider=gitlab&base_url=${provider.url}`)
      await signIn(page)
      await checkLayout(page, screen)
      await page.type('#client_id', 'client')
      await page.type('#client_secret', 'the client secret')
      await page.click('main form button')
      await agree(page)
      await page.waitForSelector('.command')
      assert.equal(await textAt(page, 'h1'), 'Connected')

      await page.goto(`${pages.url}/git/start?provider=gitlab&base_url=${provider.url}`)
      await checkLayout(page, screen)
      await page.click('main form button')
      await agree(page)
      await page.waitForSelector('.command')
      assert.equal(await textAt(page, 'h1'), 'Connected')
      assert.deepEqual(complaints, [])
    },
  )
}

test('the start page has a form for all providers, which the query fills in', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()

  const query = '?provider=gitlab&base_url=git.example.com&client_secret=secret&report_deploys=true'
  const { html, text } = await pages.get(`/git/start${query}`, { ...session })
  const resumed = await pages.get('/git/start?connection_id=git-1', { ...session })

  const namesIn = (page: string) =>
    [...page.matchAll(/<(?:input|select) [^>]* name="(\w+)"/g)].map(([, name]) => name)
  const application = ['client_id', 'client_secret', 'report_deploys']
  assert.deepEqual(namesIn(html), ['provider', 'base_url', 'organization', ...application])
  assert.match(html, /<option value="gitlab" selected>/)
  assert.match(html, /name="base_url"[^>]* value="git\.example\.com"/)
  assert.match(html, /name="report_deploys" value="true" checked/)
  assert.doesNotMatch(html, /value="secret"/)
  assert.ok(text.includes(`redirect URI, at GitLab with the scopes`))
  assert.ok(text.includes(`${pages.url}/git/callback`))
  assert.deepEqual(namesIn(resumed.html), ['connection_id', ...application])
})

test('deploys are reported if that is checked', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()
  const body = new URLSearchParams({ provider: 'github', report_deploys: 'true' })
  const response = await fetch(`${pages.url}/git/start`, { method: 'POST', headers: { ...session }, body })
  assert.match(await response.text(), /statuses&#34;:&#34;write/)
  const [connection] = pages.storage.actors.list('git-connection', '', 1)
  assert.equal(connection?.report_deploys, true)
})

test('a missing application is reported in the form, which keeps what was typed', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()

  const { status, html, text } = await pages.post('/git/start', { provider: 'gitlab' }, { ...session })

  assert.equal(status, 400)
  assert.match(text, /This server has no OAuth application at GitLab/)
  assert.match(html, /<option value="gitlab" selected>/)
})

test('a callback without an outcome says so, and leads to the start', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()

  for (const query of ['', '?code=b', '?state=', '?other=c']) {
    const { text, html } = await pages.get(`/git/callback${query}`, { ...session })
    assert.match(text, /^No account to connect/, query)
    assert.match(html, /<a class="button" href="\/git\/start">/)
  }
  const installed = await pages.get('/git/callback?installation_id=7', { ...session })
  assert.match(installed.text, /^Connecting GitHub has installed the app/)
})

test('a refusal without a state is not taken for an installation', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()
  const ask = (query: Record<string, string>) =>
    pages.get(`/git/callback?${new URLSearchParams(query)}`, { ...session })

  const denied = await ask({ error: 'access_denied' })
  assert.equal(denied.status, 400)
  assert.match(denied.text, /^Not connected The authorization was denied\. Start again$/)
  const described = await ask({ error: 'access_denied', error_description: '<b>denied</b>' })
  assert.match(described.html, /&#60;b&#62;denied&#60;\/b&#62;/)
})

test('an invalid parameter of a callback is named', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()
  const sent = async (fields: Record<string, string>) =>
    (await pages.post('/git/callback', fields, { ...session })).text

  const start = 'Not connected installation_id'
  assert.equal(await sent({ installation_id: 'x' }), `${start}: Must be digits. Start again`)
  assert.equal(
    await sent({ installation_id: '7' }),
    `${start}: Belongs to no app of this server. Start again`,
  )
})

test('a callback with an unknown state is refused, and leads back to the start', inBrowser, async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()
  const refused = await pages.post('/git/callback', { state: 'unknown', code: 'code' }, { ...session })
  assert.equal(refused.status, 400)
  assert.match(refused.text, /Not connected .* expired or was already used/)
  const form = await pages.get('/git/callback?state=a&code=b&other=c', { ...session })
  assert.match(form.html, /<input type="hidden" name="state" value="a">/)
  assert.doesNotMatch(form.html, /other/)
})
