// The raw events of an actor in a real browser: live, paused, and after a lost connection.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'puppeteer-core'
import { until } from '../support/daemon/service.ts'
import { openSite } from '../support/dashboard/site.ts'
import { startLogin } from '../support/http/real-actor.ts'
import { lackOfBrowser } from '../support/system/chromium.ts'

const inBrowser = { skip: (await lackOfBrowser()) ?? false }

test('the raw events of an actor are shown as they happen, also what it ignores', inBrowser, async (t) => {
  const site = await openSite(t)
  const id = await startLogin(site)
  const { page, complaints } = await site.openPage()
  await page.evaluateOnNewDocument(recordSockets)
  const ignore = () => site.context.actors.send(id, { type: 'collect' })
  await page.goto(`${site.url}/charts/terminal-login/${id}`)
  await page.locator('summary ::-p-text(Raw events)').click()
  await shows(page, /LivePause/)

  await ignore()
  await shows(page, /ignoredcollectin pending/)

  await press(page, 'Pause')
  await ignore()
  await ignore()
  await shows(page, /Resume \(2 new\)/)
  assert.equal(await rowCount(page), 1)
  await press(page, 'Resume')
  await shows(page, /Pause/)
  assert.equal(await rowCount(page), 3)

  await page.evaluate(() => (globalThis as unknown as Recorded).sockets.at(-1)!.close())
  await shows(page, /Events missed while disconnected are not shown/)
  await shows(page, /LivePause/)
  await press(page, 'Clear')
  await shows(page, /Waiting for the next event/)

  await site.browser.call('POST', `/auth/cli/${id}/deny`)
  await shows(page, /transitiondenypending → denied/)
  await shows(page, /effectawaitExpiry aborted/)
  assert.deepEqual(complaints, [])
})

interface Recorded {
  sockets: { close(): void }[]
  WebSocket: new (url: string) => { close(): void }
}

/** Runs in the page, before its scripts. */
function recordSockets(): void {
  const page = globalThis as unknown as Recorded
  const { WebSocket: Native } = page
  page.sockets = []
  page.WebSocket = class extends Native {
    constructor(url: string) {
      super(url)
      page.sockets.push(this)
    }
  }
}

async function shows(page: Page, words: RegExp): Promise<void> {
  await until(`${words}`, async () => {
    const [text] = await page.$$eval('details[open]', (panes) => panes.map((pane) => pane.textContent))
    return words.test(text ?? '') || null
  })
}

function rowCount(page: Page): Promise<number> {
  return page.$$eval('details[open] tbody tr', (rows) => rows.length)
}

function press(page: Page, label: string): Promise<void> {
  return page.locator(`details[open] button ::-p-text(${label})`).click()
}
