// Alerts in a real browser: what is raised is counted on every page, and acknowledged with a press.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSite } from '../support/dashboard/site.ts'
import { seeText } from '../support/dashboard/visit.ts'
import { eventually } from '../support/supervisor/supervision.ts'
import { lackOfBrowser } from '../support/system/chromium.ts'

const inBrowser = { skip: (await lackOfBrowser()) ?? false }

test('an alert is counted as soon as it is raised, until it is acknowledged', inBrowser, async (t) => {
  const site = await openSite(t)
  const { page, complaints } = await site.openPage()
  const badge = () => page.$eval('nav', (nav) => /Alerts\s*(\d*)/.exec(nav.textContent ?? '')?.[1])
  await page.goto(`${site.url}/services`)
  await seeText(page, 'Alerts')
  assert.equal(await badge(), '')

  const id = site.storage.ids.newId('alr')
  const subject = { kind: 'host', id: 'host', name: 'the host' }
  const facts = { severity: 'problem', title: 'The disk is almost full', body: '', command: 'berth info' }
  const events = { count: 1, number: null, calmMs: 0, fades: false, flaps: 0, link: null }
  const owner = { subject, serviceId: null, rule: 'host_disk' }
  await site.context.actors.spawn('alert', id, {
    id,
    at: new Date().toISOString(),
    ...facts,
    ...events,
    ...owner,
  })
  await eventually('the count', async () => (await badge()) === '1')

  await page.goto(`${site.url}/alerts`)
  await seeText(page, 'The disk is almost full')
  await seeText(page, 'berth info')
  await page.locator('main button ::-p-text(Acknowledge)').click()
  await seeText(page, 'acknowledged by')
  await eventually('no count', async () => (await badge()) === '')
  assert.equal(site.storage.actors.record(id)?.status, 'acknowledged')
  assert.deepEqual(complaints, [])
})

test('a held server says so on every page, until it is activated', inBrowser, async (t) => {
  const site = await openSite(t)
  const { hold } = site.storage
  let isHeld = true
  hold.get = () =>
    isHeld ? { restored_at: new Date().toISOString(), backup_at: '2026-01-01T00:00:00.000Z' } : null
  hold.release = () => {
    isHeld = false
  }
  const { page } = await site.openPage()
  await page.goto(`${site.url}/services`)
  await seeText(page, 'This restored server is held')
  await page.locator('main button ::-p-text(Activate…)').click()
  await seeText(page, 'Activate this server?')
  await page.locator('dialog button[data-kind="main"]').click()
  await page.waitForFunction("!document.body.textContent.includes('server is held')", { timeout: 30_000 })
  assert.equal(isHeld, false)
})
