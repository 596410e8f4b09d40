// Every page of the dashboard in every state, on every screen, in both themes.
// With BERTH_SHOTS it leaves a picture of each in that folder, for people to look at.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { autoDeployPagesOf } from '../support/dashboard/auto-deploy-pages.ts'
import { ensureDashboard } from '../support/dashboard/build.ts'
import { pagesOf } from '../support/dashboard/pages.ts'
import { openStage } from '../support/dashboard/stage.ts'
import { statesOf } from '../support/dashboard/states.ts'
import { checkPage, type Visitor, visit } from '../support/dashboard/visit.ts'
import { desktop, lackOfBrowser, openChromium, phone, smallPhone } from '../support/system/chromium.ts'

const schemes = ['light', 'dark'] as const
/** A page stays as it is while the size of its window changes, but not when a finger replaces the mouse. */
const devices = [
  [phone, smallPhone],
  [desktop, { width: 1920, height: 1080 }],
]
const inBrowser = { skip: (await lackOfBrowser()) ?? false }

test('every page is right in every state', inBrowser, async (t) => {
  await ensureDashboard()
  const stage = await openStage(t)
  const browser = await openChromium(t)
  const staged = Object.entries({
    ...pagesOf(stage),
    ...(await autoDeployPagesOf(stage)),
    ...(await statesOf(stage)),
  })
  for (const viewports of devices) {
    const visitor = await visit(browser, stage, { viewport: viewports[0]!, scheme: 'light' })
    for (const [name, page] of staged)
      await t.test(`${name} at ${viewports.map(({ width }) => width).join(' and ')} px`, async () => {
        await visitor.page.setViewport(viewports[0]!)
        await visitor.open(page)
        assert.equal(await movements(visitor), 0, 'something moves under reduced motion')
        for (const viewport of viewports)
          for (const scheme of schemes) {
            await visitor.page.setViewport(viewport)
            await still(visitor, scheme)
            await shoot(visitor, `${name}-${viewport.width}-${scheme}`)
            await checkPage(visitor, { viewport, scheme })
          }
      })
  }
})

function still({ page }: Visitor, scheme: string): Promise<void> {
  return page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ])
}

async function movements(visitor: Visitor): Promise<number> {
  await still(visitor, 'light')
  return visitor.page.evaluate(() => {
    const { document } = globalThis as unknown as Animated
    return document.getAnimations().filter(({ effect }) => Number(effect.getTiming().duration) > 0).length
  })
}

interface Animated {
  document: { getAnimations(): { effect: { getTiming(): { duration: unknown } } }[] }
}

async function shoot({ page }: Visitor, name: string): Promise<void> {
  const folder = process.env.BERTH_SHOTS
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}
