// The dashboard in a real browser, on a real daemon: the list and the page of a deploy follow it to the end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'puppeteer-core'
import { startDaemon } from '../support/daemon/daemon.ts'
import { pageApp } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { owner, signUp } from '../support/http/session.ts'
import {
  desktop,
  lackOfBrowser,
  openChromium,
  openVisitor,
  type Screen,
  smallPhone,
} from '../support/system/chromium.ts'

const inBrowser = { skip: (await lackOfBrowser()) ?? false }

test('a deploy is followed from the list to its page, and explained when it fails', inBrowser, async (t) => {
  const daemon = await startDaemon(t)
  await signUp(daemon.api.url, daemon.dataDir)
  const { page, complaints } = await openVisitor(await openChromium(t), {
    viewport: desktop,
    scheme: 'light',
  })
  await page.goto(`${daemon.api.url}/services`)
  await page.type('#email', owner.email)
  await page.type('#password', owner.password)
  await Promise.all([page.waitForNavigation(), page.click('form button')])
  await waitForText(page, 'Nothing is deployed yet')

  const service = await createService(t, daemon.api, await pageApp('hello', 'RUN sleep 2'))
  await waitForText(page, service.name)
  await waitForText(page, 'First')
  await shot(page, 'services')
  await page.click(`a[href="/services/${service.name}"]`)
  await waitForText(page, 'Running now')
  await shot(page, 'overview')

  await clickButton(page, 'Deploy')
  await waitForText(page, 'Cancel deploy')
  // The source is the same, so that its build may be over already, and closed.
  const closed = '[data-fold="running.building"][aria-expanded="false"]'
  await page.waitForSelector(`::-p-text(RUN sleep 2), ${closed}`, { timeout: 60_000 })
  await shot(page, 'deploy-running')
  await page.keyboard.press('c')
  await page.waitForSelector('[data-state="live"][data-active="true"]')
  await shot(page, 'deploy-live')

  const failed = await service.deploy(await pageApp('hello', 'RUN echo oh no && exit 3'))
  await page.goto(`${daemon.api.url}/services/${service.name}/deploys/${failed.id}`)
  await waitForText(page, 'RUN echo oh no && exit 3 exited with code 3')
  await shot(page, 'deploy-failed')

  for (const { viewport, scheme } of screens) {
    await page.setViewport(viewport)
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
    for (const path of ['', `/${service.name}`, `/${service.name}/deploys/${failed.id}`]) {
      await page.goto(`${daemon.api.url}/services${path}`)
      await waitForText(page, service.name)
      const width = await page.$eval('html', (html) => html.scrollWidth)
      assert.ok(width <= viewport.width, `${path} is ${width} px wide on ${viewport.width}`)
      await shot(page, `${scheme}-${viewport.width}-${path.split('/').length}`)
    }
  }
  assert.deepEqual(complaints, [])

  await page.goto(`${daemon.api.url}/services/unknown`)
  await waitForText(page, 'berth services lists them.')
})

const screens: Screen[] = [
  { viewport: smallPhone, scheme: 'light' },
  { viewport: desktop, scheme: 'dark' },
]

async function waitForText(page: Page, text: string): Promise<void> {
  await page.waitForSelector(`::-p-text(${text})`, { timeout: 60_000 })
}

function clickButton(page: Page, label: string): Promise<void> {
  return page.locator(`button ::-p-text(${label})`).click()
}

async function shot(page: Page, name: string): Promise<void> {
  const folder = process.env.BERTH_SHOTS
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}
