// Connecting a git account in a real browser: to the provider and back, across sites.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'puppeteer-core'
import {
  desktop,
  lackOfBrowser,
  openChromium,
  openVisitor,
  phone,
  press,
  type Screen,
  textAt,
} from '../../support/chromium.ts'
import { createGitProvider } from '../../support/git-provider.ts'
import { checkLayout } from '../../support/page-layout.ts'
import { startPages } from '../../support/pages.ts'
import { owner } from '../../support/session.ts'

const inBrowser = { skip: (await lackOfBrowser()) ?? false }
const screens: Screen[] = [
  { viewport: phone, scheme: 'dark' },
  { viewport: desktop, scheme: 'light' },
]

async function signIn(page: Page): Promise<void> {
  await page.type('#email', owner.email)
  await page.type('#password', owner.password)
  await press(page, 'form button:not(.show)')
}

/** The user agrees on the page of the provider, and comes back. */
async function agree(page: Page): Promise<void> {
  await page.waitForSelector('#back')
  await page.click('#back')
}

for (const screen of screens) {
  const title = `${screen.viewport.width} px, ${screen.scheme}`

  test(`${title}: an app of GitHub is registered, installed and connected`, inBrowser, async (t) => {
    const [pages, provider] = [await startPages(t), await createGitProvider(t, { host: 'localhost' })]
    await pages.signUp()
    const { page, complaints } = await openVisitor(await openChromium(t), screen)

    await page.goto(`${pages.url}/git/start?base_url=${provider.url}`)
    await signIn(page)
    await checkLayout(page, screen)
    await page.click('form button:not(.show)')
    await agree(page)
    await agree(page)
    await page.waitForSelector('.command')
    assert.equal(await textAt(page, 'h1'), 'Connected')
    assert.equal(await textAt(page, '.lead strong'), 'ada')
    await checkLayout(page, screen)
    assert.deepEqual(complaints, [])
  })

  test(
    `${title}: a missing application is reported at the form, and an account of GitLab connected`,
    inBrowser,
    async (t) => {
      const [pages, provider] = [await startPages(t), await createGitProvider(t, { host: 'localhost' })]
      await pages.signUp()
      const { page, complaints } = await openVisitor(await openChromium(t), screen)
      await page.goto(`${pages.url}/git/start?provider=gitlab&base_url=${provider.url}`)
      await signIn(page)
      await press(page, 'form button:not(.show)')
      assert.match(await textAt(page, '[role=alert]'), /This server has no OAuth application at GitLab/)
      await checkLayout(page, screen)

      await page.type('#client_id', 'client')
      await page.type('#client_secret', 'the client secret')
      await page.click('form button:not(.show)')
      await agree(page)
      await page.waitForSelector('.command')

      assert.equal(await textAt(page, 'h1'), 'Connected')
      const expected = complaints.filter((text) => !text.includes('400'))
      assert.deepEqual(expected, [])
    },
  )
}

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
