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
  await press(page, 'main form button:not(.show)')
}

/** The user agrees on the page of the provider, and comes back. */
async function agree(page: Page): Promise<void> {
  await page.waitForSelector('#back')
  await page.click('#back')
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
    await page.click('main form button:not(.show)')
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
      const [pages, provider] = [await startPages(t), await createGitProvider(t, { host: 'localhost' })]
      await pages.signUp()
      const { page, complaints } = await openVisitor(await openChromium(t), screen)
      await page.goto(`${pages.url}/git/start?provider=gitlab&base_url=${provider.url}`)
      await signIn(page)
      await checkLayout(page, screen)
      await page.type('#client_id', 'client')
      await page.type('#client_secret', 'the client secret')
      await page.click('main form button:not(.show)')
      await agree(page)
      await page.waitForSelector('.command')
      assert.equal(await textAt(page, 'h1'), 'Connected')

      await page.goto(`${pages.url}/git/start?provider=gitlab&base_url=${provider.url}`)
      await checkLayout(page, screen)
      await page.click('main form button:not(.show)')
      await agree(page)
      await page.waitForSelector('.command')
      assert.equal(await textAt(page, 'h1'), 'Connected')
      assert.deepEqual(complaints, [])
    },
  )
}

/** The fields of a page, by name; `closed` for those behind a title. */
function fieldsIn(html: string): Record<string, 'required' | 'optional' | 'closed'> {
  const [, main = ''] = html.split('<main>')
  const closed = new Set(
    [...main.matchAll(/<details >[\s\S]*?<\/details>/g)].flatMap(([part]) => namesIn(part)),
  )
  const required = new Set(namesIn(main, / required/))
  return Object.fromEntries(
    namesIn(main).map((name) => [
      name,
      closed.has(name) ? 'closed' : required.has(name) ? 'required' : 'optional',
    ]),
  )
}

function namesIn(html: string, pattern = /./): string[] {
  const inputs = [...html.matchAll(/<input (?!type="hidden")[^>]*>/g)].filter(([input]) =>
    pattern.test(input),
  )
  return inputs.map(([input]) => / name="(\w+)"/.exec(input)![1]!)
}

const application = { client_id: 'required', client_secret: 'required' } as const
const shown = {
  '': { organization: 'closed', base_url: 'closed' },
  '?provider=github': { organization: 'closed', base_url: 'closed' },
  '?provider=svn': { organization: 'closed', base_url: 'closed' },
  '?provider=github&organization=acme': { organization: 'optional', base_url: 'optional' },
  '?provider=gitlab': { ...application, base_url: 'closed' },
  '?provider=gitlab&base_url=git.example.com': { ...application, base_url: 'optional' },
  '?provider=gitea': { ...application, base_url: 'required' },
  '?connection_id=git-1': {},
}

for (const [query, fields] of Object.entries(shown)) {
  test(`/git/start${query} shows only the fields of its provider, without a script`, async (t) => {
    const pages = await startPages(t)
    const session = await pages.signUp()

    const { html, text } = await pages.get(`/git/start${query}`, { ...session })

    assert.deepEqual(fieldsIn(html), fields)
    assert.equal(html.split('<main>')[1]!.match(/<button/g)!.length, 1)
    assert.equal(text.includes('redirect URI'), 'client_id' in fields)
    const chosen = /aria-current="true">([^<]*)/.exec(html)?.[1]
    const names = { gitlab: 'GitLab', gitea: 'Gitea, Forgejo' }
    const provider = /provider=(\w+)/.exec(query)?.[1] as keyof typeof names
    assert.equal(chosen, query.includes('connection_id') ? undefined : (names[provider] ?? 'GitHub'))
  })
}

test('a missing application is reported at the form of its provider', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()

  const { status, html, text } = await pages.post('/git/start', { provider: 'gitlab' }, { ...session })

  assert.equal(status, 400)
  assert.match(text, /This server has no OAuth application at GitLab/)
  assert.deepEqual(fieldsIn(html), { ...application, base_url: 'closed' })
})

test('a callback without an outcome says so, and leads to the start', async (t) => {
  const pages = await startPages(t)
  const session = await pages.signUp()

  for (const query of ['', '?code=b', '?state=', '?other=c']) {
    const { text, html } = await pages.get(`/git/callback${query}`, { ...session })
    assert.match(text, /^No account to connect/, query)
    assert.match(html, /<a class="button" href="\/git\/start">/)
    assert.doesNotMatch(html, /data-submit/)
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
  assert.equal(await sent({ installation_id: 'x' }), `${start} : Must be digits. Start again`)
  assert.equal(
    await sent({ installation_id: '7' }),
    `${start} : Belongs to no app of this server. Start again`,
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
