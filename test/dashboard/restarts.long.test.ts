// A daemon that is killed in the middle of a deploy: the page that shows the deploy stays true, and follows
// it to its end without a reload.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'puppeteer-core'
import { startDaemon } from '../support/daemon/daemon.ts'
import { pageApp } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { owner, signUp } from '../support/http/session.ts'
import { desktop, lackOfBrowser, openChromium, openVisitor } from '../support/system/chromium.ts'

const inBrowser = { skip: (await lackOfBrowser()) ?? false }

/** Longer than a kill and a start of the daemon. */
const pause = 'sleep 30'
const serve = 'exec httpd -f -p $PORT -h /www'

interface Case {
  phase: string
  settings?: object
  files: () => Promise<Record<string, string>>
}

const cases: Case[] = [
  { phase: 'Building', files: () => pageApp('one', `RUN ${pause}`) },
  { phase: 'Preparing', settings: { pre_deploy_command: pause }, files: () => pageApp('one') },
  { phase: 'Checking', settings: { start_command: `${pause}; ${serve}` }, files: () => pageApp('one') },
]

test('a deploy whose daemon is killed in a phase is shown in it, resumed, and live', inBrowser, async (t) => {
  const port = 20_000 + (process.pid % 10_000)
  const daemon = await startDaemon(t, { args: ['--listen', `127.0.0.1:${port}`] })
  await signUp(daemon.api.url, daemon.dataDir)
  const { page } = await openVisitor(await openChromium(t), { viewport: desktop, scheme: 'light' })
  await page.goto(`${daemon.api.url}/login`)
  await page.type('#email', owner.email)
  await page.type('#password', owner.password)
  await Promise.all([page.waitForNavigation(), page.click('form button')])

  for (const { phase, settings = {}, files } of cases) {
    const service = await createService(t, daemon.api, await files(), { ...settings, deploy: false })
    const { id } = await service.request()
    await page.goto(`${daemon.api.url}/services/${service.name}/deploys/${id}`)
    await waitFor(page, `li[aria-current="step"] ::-p-text(${phase})`)

    await daemon.kill()
    await waitFor(page, '::-p-text(Reconnecting)')
    const shown = await page.$eval('li[aria-current="step"]', (step) => step.textContent)
    assert.ok(shown?.includes(phase), `${shown} is not ${phase}`)

    await daemon.start()
    await waitFor(page, 'li:last-child[data-state="done"] ::-p-text(Live)')
    const notched = await page.$$eval('ol > li', (steps) =>
      steps
        .filter((step) => step.textContent.includes('Resumed after a restart'))
        .map((step) => step.textContent),
    )
    assert.equal(notched.length, 1)
    assert.ok(notched[0]?.includes(phase), `${notched[0]} is not ${phase}`)
  }
})

async function waitFor(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(selector, { timeout: 180_000 })
}
