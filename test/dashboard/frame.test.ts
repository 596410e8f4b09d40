// The frame of the dashboard in a real browser: keys alone, a plain-http address of the network, and requests
// whose answers are lost.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Protocol } from 'puppeteer-core'
import { openSite } from '../support/dashboard/site.ts'
import { eventually } from '../support/supervisor/supervision.ts'
import { lackOfBrowser } from '../support/system/chromium.ts'

const inBrowser = { skip: (await lackOfBrowser()) ?? false }
const patience = { timeout: 30_000 }

test('the frame of the dashboard', inBrowser, async (t) => {
  const site = await openSite(t)
  await site.addService('blog', { status: 'failed', error: 'out of paper' })
  await site.addService('shop', {
    status: 'live',
    commit_message: 'Fix the cart',
    commit_sha: 'a1',
  })
  const { page, complaints } = await site.openPage()
  const countDeploys = async (name: string) =>
    (await site.call('GET', `/api/v1/services/${name}/deploys`)).text.split('"created_at"').length - 1

  await t.test('the list is used with keys alone', async () => {
    await page.goto(`${site.url}/services`)
    await shows(page, 'out of paper')
    await type(page, '/', 'sho')
    await hides(page, 'out of paper')
    assert.equal(new URL(page.url()).search, '?q=sho')
    await page.keyboard.press('Enter')
    assert.equal(await focused(page, 'dataset.row'), 'shop')
    await page.keyboard.press('Enter')
    await shows(page, 'Running now')
    await page.waitForFunction("document.activeElement.tagName === 'H1'", patience)
    assert.equal(await page.title(), '● Live · shop')
    await type(page, 'g', 's')
    await shows(page, 'out of paper')
    await type(page, 'j', 'j', 'k')
    assert.equal(await focused(page, 'dataset.row'), 'blog')
    assert.equal(await page.title(), 'Services · Berth')
  })

  await t.test('the palette finds a service and acts on it, and gives the focus back', async () => {
    await page.focus('input[type="search"]')
    await openPalette(page)
    await page.keyboard.type('nothing like this')
    await shows(page, 'No results')
    await page.keyboard.press('Escape')
    await hides(page, 'No results')
    assert.equal(await focused(page, 'type'), 'search')

    const before = await countDeploys('shop')
    await openPalette(page)
    await page.keyboard.type('deploy shop')
    await page.keyboard.press('Enter')
    await eventually('the new deploy', () => page.url().includes('/services/shop/deploys/'))
    assert.equal(await countDeploys('shop'), before + 1)
  })

  await t.test('keys without Ctrl can be switched off', async () => {
    await page.goto(`${site.url}/services/blog`)
    await shows(page, 'Recent deploys')
    await type(page, '?')
    await shows(page, 'Show this list')
    await page.click('dialog input[type="checkbox"]')
    await page.keyboard.press('Escape')
    await hides(page, 'Show this list')
    await type(page, '?')
    assert.equal(await page.$('dialog[open]'), null)
    await page.evaluate('localStorage.clear()')
    await page.reload()
    await shows(page, 'Recent deploys')
  })

  await t.test('a press whose answer is lost is repeated, and done once', async () => {
    const before = await countDeploys('blog')
    await failOnce(page, { urlPattern: '*/deploys', requestStage: 'Response' })
    await page.click('[data-keys="d"]')
    await shows(page, "We couldn't confirm that your request arrived")
    await eventually('the new deploy', () => page.url().includes('/services/blog/deploys/'))
    assert.equal(await countDeploys('blog'), before + 1)
  })

  await t.test('a service is deleted after its name was typed', async () => {
    await page.goto(`${site.url}/services/blog`)
    await shows(page, 'Recent deploys')
    await page.click('[aria-label="More for blog"]')
    await page.locator('button ::-p-text(Delete…)').click()
    await page.waitForSelector('dialog [aria-disabled="true"]', patience)
    await page.keyboard.type('blog')
    await page.waitForSelector('dialog [data-kind="danger"][aria-disabled="false"]', patience)
    await page.keyboard.press('Enter')
    await page.waitForFunction("!document.querySelector('dialog')", patience)
    assert.notEqual((await site.call('GET', '/api/v1/services/blog')).body.state, 'deleting')
    await page.click('[aria-label="More for blog"]')
    await page.locator('button ::-p-text(Delete…)').click()
    await page.waitForSelector('dialog [aria-disabled="true"]', patience)
    await page.keyboard.type('blog')
    await page.click('dialog [data-kind="danger"]')
    await shows(page, 'This service is being deleted')
  })

  await t.test('a part of a page that is gone is looked for once more', async () => {
    await page.mouse.move(0, 0)
    await page.goto(`${site.url}/services`)
    await page.waitForSelector('a[href="/services/shop"]', patience)
    await failOnce(page, { urlPattern: '*/assets/overview*', requestStage: 'Request' })
    // Pressed without a pointer, which would load the part ahead of the press.
    await Promise.all([
      page.waitForNavigation(),
      page.$eval('a[href="/services/shop"]', (link) => link.click()),
    ])
    await shows(page, 'Running now')
  })

  await t.test('what a page still reads when the reader leaves it is canceled', async () => {
    await page.goto(`${site.url}/services`)
    await page.waitForSelector('a[href="/services/shop"]', patience)
    const [held, canceled] = [new Set<string>(), new Set<string>()]
    page.on('requestfailed', (request) => canceled.add(request.url()))
    const session = await page.createCDPSession()
    session.on('Fetch.requestPaused', ({ request }) => held.add(request.url))
    const patterns = ['status', 'deploys*'].map((part) => ({ urlPattern: `*/api/v1/services/*/${part}` }))
    await session.send('Fetch.enable', { patterns })
    await page.click('a[href="/services/shop"]')
    await eventually('both are asked for', () => held.size === 2)
    await type(page, 'g', 's')
    await eventually('both are canceled', () => [...held].every((url) => canceled.has(url)))
    await session.detach()
    await page.click('a[href="/services/shop"]')
    await shows(page, 'Running now')
    await shows(page, 'No instance')
  })

  await t.test(
    'on a plain-http address of the network, pages live and copy without a clipboard',
    async () => {
      await page.goto(`${site.lanUrl}/services`)
      assert.equal(await page.evaluate("'locks' in navigator || isSecureContext"), false)
      await page.waitForSelector('[data-kind="live"]', patience)
      await site.addService('worker', { status: 'failed', error: 'no more ideas' })
      await shows(page, 'no more ideas')
      await page.click('a[href="/services/worker"]')
      await shows(page, 'Running now')
      await page.click('[aria-label="Copy berth env edit worker"]')
      const selection = 'document.activeElement.value?.slice(0, document.activeElement.selectionEnd)'
      await page.waitForFunction(`${selection} === 'berth env edit worker'`, patience)
    },
  )

  // Other tests change the networks of the host: what Chromium loads is then cut, and the page loads again.
  const isCut = complaints.some((complaint) => /ERR_(NETWORK_CHANGED|CONNECTION_RESET)/.test(complaint))
  const expected = ['Failed to load resource', ...(isCut ? ['dynamically imported module'] : [])]
  const isExpected = (complaint: string) => expected.some((part) => complaint.includes(part))
  assert.ok(complaints.every(isExpected), complaints.join('\n'))
})

async function shows(page: Page, text: string): Promise<void> {
  await page.waitForSelector(`::-p-text(${text})`, patience)
}

async function hides(page: Page, text: string): Promise<void> {
  await page.waitForFunction(`!document.body.textContent.includes(${JSON.stringify(text)})`, patience)
}

async function type(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.type(key)
}

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.down('Control')
  await page.keyboard.press('k')
  await page.keyboard.up('Control')
  await page.waitForSelector('dialog[open] input', patience)
}

/** Breaks the connection of the next such request. */
async function failOnce(page: Page, pattern: Protocol.Fetch.RequestPattern): Promise<void> {
  const session = await page.createCDPSession()
  await session.send('Fetch.enable', { patterns: [pattern] })
  session.once('Fetch.requestPaused', async ({ requestId }) => {
    await session.send('Fetch.failRequest', { requestId, errorReason: 'ConnectionReset' })
    await session.send('Fetch.disable')
  })
}

function focused(page: Page, property: string): Promise<unknown> {
  return page.evaluate(`document.activeElement.${property}`)
}
