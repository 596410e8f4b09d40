// The dashboard and its feed in a real browser: tabs share a connection, and show what is stored.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CDPSession, HTTPRequest, Page } from 'puppeteer-core'
import { openSite } from '../support/dashboard/site.ts'
import { lackOfBrowser } from '../support/system/chromium.ts'
import { long } from '../support/system/drill-size.ts'

const inBrowser = { skip: (await lackOfBrowser()) ?? false }
const patience = { timeout: 60_000 }

test('the feed of the dashboard', inBrowser, async (t) => {
  const site = await openSite(t)
  const shop = await site.addService('shop', { status: 'running', phase: 'building' })
  const { page, complaints } = await site.openPage()
  const requests = requestsOf(page)
  /** A hidden tab reads nothing; it catches up when it is shown. */
  async function shows(tab: Page, text: string): Promise<void> {
    await tab.bringToFront()
    await tab.waitForSelector(`::-p-text(${text})`, patience)
  }

  await t.test('the list is there after nine requests, and is silent while nothing happens', async () => {
    await page.goto(`${site.url}/services`)
    await shows(page, 'Building')
    await page.waitForSelector('[data-kind="live"]', patience)
    const sent = requests.splice(0).filter((path) => !path.includes('/events') && path !== '/berth.svg')
    assert.ok(sent.length <= 9, sent.join('\n'))
    assert.equal(new Set(sent).size, sent.length, 'nothing is requested twice')
    // The palette is loaded when the page has nothing else to do.
    await page.waitForRequest((request) => request.url().includes('palette'), patience).catch(() => null)
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    requests.length = 0
    await new Promise((resolve) => setTimeout(resolve, 6_000))
    assert.deepEqual(requests, [])
  })

  await t.test('a phase is shown from the feed alone; a new status reads one service', async () => {
    await site.setDeploy(shop, { phase: 'starting' })
    await shows(page, 'Starting')
    assert.deepEqual(requests.splice(0), [])
    await site.setDeploy(shop, { status: 'live', commit_sha: 'abcdef1234', commit_message: 'Fix the cart' })
    await shows(page, 'Fix the cart')
    assert.equal(requests.length, 1, requests.join('\n'))
  })

  const tabs = [page]
  await t.test('eight tabs share one connection, and another tab takes over', async () => {
    requests.length = 0
    for (let count = 1; count < 8; count++) {
      const tab = await page.browserContext().newPage()
      requestsOf(tab, requests)
      await tab.goto(`${site.url}/services`)
      await shows(tab, 'Fix the cart')
      tabs.push(tab)
    }
    await site.addService('blog', { status: 'failed', error: 'out of paper' })
    for (const tab of tabs) await shows(tab, 'out of paper')
    assert.deepEqual(
      requests.filter((path) => path.includes('/events')),
      [],
    )

    await tabs.shift()!.close()
    await tabs[0]!.waitForFunction(() => true)
    await site.addService('worker', { status: 'failed', error: 'no more ideas' })
    for (const tab of tabs) await shows(tab, 'no more ideas')
    assert.equal(requests.filter((path) => path.includes('/events')).length, 1)
  })

  await t.test('after a restart of the server, every tab is right without being loaded again', async () => {
    const start = await site.stop()
    for (const tab of tabs) await shows(tab, 'Reconnecting')
    await site.setDeploy(shop, { status: 'failed', error: 'while you were away' })
    await start()
    for (const tab of tabs) await shows(tab, 'while you were away')
    for (const tab of tabs) await tab.waitForSelector('[data-kind="live"]', { ...patience, hidden: false })
  })

  await t.test('after an upgrade, an old tab says so, and its next page is of the new version', async () => {
    const start = await site.stop()
    const dashboard = { ...site.context.dashboard!, build: 'another' }
    await start({ dashboard, version: '0.3.0' })
    await shows(tabs[0]!, 'Berth was updated to 0.3.0')
    await Promise.all([tabs[0]!.waitForNavigation(), tabs[0]!.click('a[href="/services/shop"]')])
    await shows(tabs[0]!, 'Running now')
    assert.equal(await tabs[0]!.$eval('html', (html) => html.dataset.build), 'another')
  })

  await t.test(
    'a session that ends is shown in every tab, and the next page asks for a sign-in',
    async () => {
      await site.session.call('POST', '/auth/logout')
      for (const tab of tabs) await shows(tab, 'Signed out')
      const tab = tabs[1]!
      await tab.bringToFront()
      await Promise.all([tab.waitForNavigation(), tab.click('a[href="/services/shop"]')])
      assert.equal(new URL(tab.url()).search, '?next=%2Fservices%2Fshop')
    },
  )

  assert.deepEqual(
    complaints.filter((complaint) => !complaint.includes('Failed to load resource')),
    [],
  )
})

/** How the tab that reads the feed comes to a stop, and goes on. */
const stops = [
  {
    name: 'frozen',
    stop: (tab: CDPSession) => tab.send('Page.setWebLifecycleState', { state: 'frozen' }),
    go: (tab: CDPSession) => tab.send('Page.setWebLifecycleState', { state: 'active' }),
  },
  {
    name: 'stuck',
    stop: (tab: CDPSession) => tab.send('Debugger.enable').then(() => tab.send('Debugger.pause')),
    go: (tab: CDPSession) => tab.send('Debugger.disable'),
  },
]

for (const { name, stop, go } of stops) {
  long(
    `a tab that is ${name} loses the feed to another, and is right when it goes on`,
    inBrowser,
    async (t) => {
      const site = await openSite(t)
      const shop = await site.addService('shop', { status: 'running', phase: 'building' })
      const { page: first } = await site.openPage()
      const second = await first.browserContext().newPage()
      const connections = new Set<HTTPRequest>()
      for (const tab of [first, second]) {
        tab.on('request', (request) => request.url().endsWith('/events') && connections.add(request))
        tab.on('requestfailed', (request) => connections.delete(request))
        await tab.bringToFront()
        await tab.goto(`${site.url}/services`)
        await tab.waitForSelector('[data-kind="live"]', patience)
      }
      assert.equal(connections.size, 1)

      const session = await first.createCDPSession()
      await stop(session)
      await site.setDeploy(shop, { status: 'live', commit_sha: 'abcdef1234', commit_message: 'Fix the cart' })
      await second.waitForSelector('::-p-text(Fix the cart)', patience)

      await go(session)
      await first.bringToFront()
      await first.waitForSelector('::-p-text(Fix the cart)', patience)
      await site.addService('blog', { status: 'failed', error: 'out of paper' })
      for (const tab of [first, second]) {
        await tab.bringToFront()
        await tab.waitForSelector('::-p-text(out of paper)', patience)
      }
      assert.equal(connections.size, 1)
    },
  )
}

function requestsOf(page: Page, seen: string[] = []): string[] {
  page.on('request', (request) => {
    const { pathname, protocol } = new URL(request.url())
    if (protocol.startsWith('http')) seen.push(pathname)
  })
  return seen
}
