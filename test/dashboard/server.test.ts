// The pages of the server in a real browser: channels, backup places and the audit log.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { openSite } from '../support/dashboard/site.ts'
import { seeText } from '../support/dashboard/visit.ts'
import { eventually } from '../support/supervisor/supervision.ts'
import { lackOfBrowser } from '../support/system/chromium.ts'

const inBrowser = { skip: (await lackOfBrowser()) ?? false }

test('a channel is added, shows its secret once, and is deleted', inBrowser, async (t) => {
  const site = await openSite(t)
  const { page, complaints } = await site.openPage()
  const { notificationChannels: channels } = site.storage
  await page.goto(`${site.url}/server/notifications`)
  await seeText(page, 'There are no channels')
  await page.locator('main button ::-p-text(Add channel)').click()
  await page.locator('dialog input[name=name]').fill('team')
  await page.locator('dialog input[name=url]').fill('https://hooks.example.com/berth')
  await page.locator('dialog button ::-p-text(Add)').click()
  await seeText(page, 'whsec_')
  await page.locator('dialog button ::-p-text(Close)').click()
  await seeText(page, 'warnings and problems')
  assert.doesNotMatch(await page.content(), /whsec_\w/)

  await page.locator('main button ::-p-text(Disable)').click()
  await seeText(page, 'team, disabled')
  await page.locator('main button ::-p-text(Delete)').click()
  await page.locator('dialog button ::-p-text(Delete)').click()
  await seeText(page, 'There are no channels')
  assert.deepEqual(channels.list(), [])
  assert.deepEqual(complaints, [])
})

test('a bucket is added, and its test names the step that fails', inBrowser, async (t) => {
  const site = await openSite(t)
  const { page } = await site.openPage()
  const refusing = createServer((_, response) => response.writeHead(403).end()).listen(0, '127.0.0.1')
  await once(refusing, 'listening')
  t.after(() => refusing.close())
  await page.goto(`${site.url}/server/places`)
  await page.locator('main button ::-p-text(Add bucket)').click()
  const fields = {
    name: 'offsite',
    endpoint: `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`,
    bucket: 'backups',
    access_key_id: 'key',
    secret_access_key: 'secret-of-the-key',
  }
  for (const [name, value] of Object.entries(fields))
    await page.locator(`dialog input[name=${name}]`).fill(value)
  await page.locator('dialog input[name=path_style]').click()
  await page.locator('dialog button ::-p-text(Add)').click()
  await seeText(page, 's3://backups')
  assert.equal(site.storage.backupPlaces.get('offsite')?.path_style, true)
  await page.locator('main li:last-child button ::-p-text(Test)').click()
  await seeText(page, 'Write:')
})

test('the audit log shows who did what, filtered by its address', inBrowser, async (t) => {
  const site = await openSite(t)
  await site.addService('shop', {})
  await site.addService('wiki', {})
  const { page, complaints } = await site.openPage()
  await page.goto(`${site.url}/server/audit?subject=shop`)
  await seeText(page, 'service.create shop')
  assert.doesNotMatch(await page.$eval('main', (main) => main.textContent ?? ''), /wiki/)
  await page.locator('input[aria-label=About]').fill('wiki')
  await eventually('the address', () => page.url().endsWith('subject=wiki'))
  await seeText(page, 'service.create wiki')

  await page.locator('nav a ::-p-text(Audit)').click()
  await seeText(page, 'service.create shop')
  assert.equal(await page.$eval('input[aria-label=About]', ({ value }) => value), '')
  // Both are typed before the page asks.
  await page.type('input[aria-label=Who]', 'ada')
  await page.type('input[aria-label=About]', 'wiki')
  await eventually('both', () => page.url().endsWith('actor=ada&subject=wiki'))
  assert.deepEqual(complaints, [])
})

test('the command of the audit log quotes what its address brings', inBrowser, async (t) => {
  const site = await openSite(t)
  const { page } = await site.openPage()
  await page.goto(`${site.url}/server/audit?subject=$(id)`)
  await seeText(page, 'Nothing fits the filter')
  assert.match(await page.$eval('main', (main) => main.textContent ?? ''), /berth audit '\$\(id\)'/)
})

test('a backup of the server takes new ones of what was chosen', inBrowser, async (t) => {
  const site = await openSite(t)
  const { page } = await site.openPage()
  await page.goto(`${site.url}/server/backups`)
  await page.locator('main label ::-p-text(disks)').click()
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.method() === 'POST'),
    page.locator('main button ::-p-text(Back up now)').click(),
  ])
  assert.deepEqual(JSON.parse(request.postData() ?? ''), { datastores: false, disks: true })
  assert.match(request.headers()['idempotency-key'] ?? '', /^\w{32}$/)
})
