// The main pages of the dashboard, on a desk in the light and on a phone in the dark.
import { test } from 'node:test'
import { ensureDashboard } from '../support/dashboard/build.ts'
import { pagesOf } from '../support/dashboard/pages.ts'
import { openStage } from '../support/dashboard/stage.ts'
import { checkPage, visit } from '../support/dashboard/visit.ts'
import { desktop, lackOfBrowser, openChromium, phone, type Screen } from '../support/system/chromium.ts'

const names = ['services', 'overview', 'deploy-building', 'deploy-failed', 'logs', 'logs-access']
const screens: Screen[] = [
  { viewport: desktop, scheme: 'light' },
  { viewport: phone, scheme: 'dark' },
]
const inBrowser = { skip: (await lackOfBrowser()) ?? false }

test('the main pages are accessible, fit the screen, and log nothing', inBrowser, async (t) => {
  await ensureDashboard()
  const stage = await openStage(t)
  const browser = await openChromium(t)
  const pages = pagesOf(stage)
  for (const screen of screens) {
    const visitor = await visit(browser, stage, screen)
    for (const name of names)
      await t.test(`${name} at ${screen.viewport.width} px`, async () => {
        await visitor.open(pages[name]!)
        await checkPage(visitor, screen)
      })
  }
})
