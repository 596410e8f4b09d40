// The pages in a real browser, from the setup link to a terminal that is connected: on phones and on a desk,
// light and dark.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Page } from 'puppeteer-core'
import { checkLayout } from '../../support/http/page-layout.ts'
import { type Pages, startPages } from '../../support/http/pages.ts'
import { owner } from '../../support/http/session.ts'
import {
  desktop,
  lackOfBrowser,
  openChromium,
  openVisitor,
  phone,
  press,
  type Screen,
  smallPhone,
  textAt,
} from '../../support/system/chromium.ts'
import { sized } from '../../support/system/drill-size.ts'

const inBrowser = { skip: (await lackOfBrowser()) ?? false }

const screens: Screen[] = [
  { viewport: smallPhone, scheme: 'light' },
  { viewport: phone, scheme: 'dark' },
  { viewport: desktop, scheme: 'light' },
  { viewport: desktop, scheme: 'dark' },
]

for (const screen of sized(screens.slice(0, 1), screens)) {
  const title = `${screen.viewport.width} px, ${screen.scheme}`

  test(`${title}: from the setup link to the account, its tokens and signing out`, inBrowser, async (t) => {
    const pages = await startPages(t)
    const { page, complaints } = await openVisitor(await openChromium(t), screen)

    await page.goto(`${pages.url}/setup?code=${pages.setupCode()}`)
    await typeInFocus(page, '#email', owner.email)
    await page.type('#password', 'hunter2')
    await press(page, 'form button')
    await checkLayout(page, screen)
    // The cursor is in the invalid field.
    await typeInFocus(page, '#password', owner.password)
    await press(page, 'form button')
    assert.equal(page.url(), `${pages.url}/account`)

    assert.equal(await textAt(page, 'h2'), 'Next: connect your terminal')
    for (const summary of await page.$$('summary')) await summary.click()
    await checkLayout(page, screen)
    await page.type('#name', 'W'.repeat(100))
    await press(page, '#tokens ~ details form > button')
    assert.equal(await textAt(page, 'h2'), 'Connect a terminal')
    await page.click('li summary')
    await checkLayout(page, screen)
    await press(page, 'button.danger')
    assert.equal(await page.$('li summary'), null)
    await press(page, 'header button')
    assert.equal(page.url(), `${pages.url}/login`)
    assert.deepEqual(complaints, [])
  })

  test(`${title}: a terminal is denied, and approved`, inBrowser, async (t) => {
    const pages = await startPages(t)
    await pages.signUp()
    const { page, complaints } = await openVisitor(await openChromium(t), screen)

    const denied = await startTerminal(pages)
    await page.goto(`${pages.url}${denied.path}`)
    await checkLayout(page, screen)
    await signIn(page)
    await checkLayout(page, screen)
    assert.equal(await textAt(page, '.code strong'), denied.code)
    await press(page, 'button[value=deny]')
    assert.equal(await textAt(page, 'h1'), 'Denied')

    const approved = await startTerminal(pages)
    await page.goto(`${pages.url}${approved.path}`)
    await page.keyboard.press('Enter')
    assert.equal(await textAt(page, '.code strong'), approved.code)
    await press(page, 'button[value=approve]')
    assert.equal(await textAt(page, 'h1'), 'Approved')
    await checkLayout(page, screen)
    assert.deepEqual(complaints, [])
  })
}

test('a link on another site leads to the page, with a sign-in only if needed', inBrowser, async (t) => {
  const pages = await startPages(t)
  await pages.signUp()
  const { code, path } = await startTerminal(pages)
  const elsewhere = await servePage(t, `<a href="${pages.url}${path}">Approve</a>`)
  const { page, complaints } = await openVisitor(await openChromium(t), screens[2]!)
  const follow = async (selector: string) => {
    await page.goto(elsewhere)
    await Promise.all([page.waitForSelector(selector), page.click('a')])
  }

  await follow('#password')
  await signIn(page)
  assert.equal(page.url(), `${pages.url}${path}`)
  await follow('.code')
  assert.equal(page.url(), `${pages.url}${path}&reloaded=1`)
  assert.equal(await textAt(page, '.code strong'), code)
  await press(page, 'button[value=approve]')
  assert.equal(await textAt(page, 'h1'), 'Approved')
  assert.deepEqual(complaints, [])
})

/** Types where the cursor is, once it is there: it comes with the first frame, maybe after the load. */
async function typeInFocus(page: Page, field: string, text: string): Promise<void> {
  await page.waitForSelector(`${field}:focus`, { visible: true })
  await page.keyboard.type(text)
}

/** The cursor is where it is to be typed. */
async function signIn(page: Page): Promise<void> {
  await typeInFocus(page, '#email', owner.email)
  await page.type('#password', owner.password)
  await press(page, 'main button')
}

async function startTerminal(pages: Pages): Promise<{ code: string; path: string }> {
  const requested = { body: { name: 'W'.repeat(100) }, token: null }
  const { body } = await pages.call('POST', '/api/v1/auth/cli', requested)
  return { code: String(body.code), path: `/cli-login?id=${body.id}` }
}

/** Serves a page of another site: to a browser, `localhost` and `127.0.0.1` are two. */
async function servePage(t: TestContext, html: string): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end(`<link rel="icon" href="data:,">${html}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return `http://localhost:${(server.address() as AddressInfo).port}/`
}
