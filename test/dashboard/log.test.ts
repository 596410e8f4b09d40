// The log viewer in a real browser, on a log of 200,000 lines and on lines that attack it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'puppeteer-core'
import {
  openLog,
  type Site,
  visibleNumbers,
  writeLines,
  writeRequest,
} from '../support/dashboard/log-page.ts'
import { openSite } from '../support/dashboard/site.ts'
import { lackOfBrowser, phone } from '../support/system/chromium.ts'

const inBrowser = { skip: (await lackOfBrowser()) ?? false }
const count = 200_000

function* longLog(): Generator<string> {
  for (let number = 1; number <= count; number++) {
    const isModule = number % 1_000 === 0
    yield isModule
      ? `\u001b[32m✓\u001b[0m Needle ${number} needle`
      : `GET /items/${number} 200 ${'x'.repeat(number % 50)}`
  }
}

test('the log viewer', inBrowser, async (t) => {
  const site = await openSite(t)
  const long = await site.addService('shop', { status: 'failed' })
  await writeLines(site, long, longLog())
  await site.storage.logs.end(long)
  const running = await nextDeploy(site)
  await t.test('200,000 lines are loaded, counted and searched with few of them in the page', () =>
    readsAll(site, long),
  )
  await t.test('an address leads to its lines, and all others come too', () => opensAtLines(site, long))
  await t.test('the reader alone ends the following of new lines', () => follows(site, running))
  await t.test('a hidden tab catches up', () => catchesUp(site, running))
  await t.test('the log of a service shows its output and its requests, and a link what is looked for', () =>
    showsService(site),
  )
  await t.test('hostile text is shown, and does nothing', () => showsHostileText(site))
  await t.test('on a phone the log fills the screen', () => fillsScreen(site, running))
})

async function nextDeploy({ call }: Site): Promise<string> {
  const { body } = await call('POST', '/api/v1/services/shop/deploys', { body: {} })
  return String(body.id)
}

async function readsAll(site: Site, id: string): Promise<void> {
  const startedAt = performance.now()
  const { page, complaints } = await openLog(site, id)
  await waitForText(page, '200,000 lines')
  const loadMs = Math.round(performance.now() - startedAt)
  const { JSHeapUsedSize: heapBytes = 0 } = await page.metrics()
  const rows = await page.$$eval('[data-line]', ({ length }) => length)
  console.log({ loadMs, heapMb: Math.round(heapBytes / 1e6), rows })
  assert.ok(rows > 10 && rows < 150, `${rows} rows are in the page`)
  assert.ok(heapBytes < 400e6, `the heap has ${heapBytes} bytes`)
  await seeLine(page, count)

  await page.keyboard.press('/')
  await page.keyboard.type('needle')
  await waitForText(page, '400 matches')
  await page.keyboard.press('Enter')
  // Its first match after the top of the page, which shows the end.
  await waitForText(page, '399 of 400')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await waitForText(page, '1 of 400')
  await seeLine(page, 1_000)
  assert.ok((await page.$$('[role="log"] mark')).length >= 2)
  assert.deepEqual(complaints, [])
  await page.close()
}

async function opensAtLines(site: Site, id: string): Promise<void> {
  const { page } = await openLog(site, id, { hash: '#L120000-120002' })
  await seeLine(page, 120_000)
  await waitForText(page, '3 lines selected')
  assert.equal(
    await copied(page),
    ['120000 needle', 'x', 'xx']
      .map((end, at) => {
        return at === 0 ? '✓ Needle 120000 needle' : `GET /items/${120_000 + at} 200 ${end}`
      })
      .join('\n'),
  )

  await page.locator('[data-line="120004"] a').click()
  await page.waitForFunction('location.hash === "#L120004"')
  await page.keyboard.down('Shift')
  await page.locator('[data-line="120006"] a').click()
  await page.keyboard.up('Shift')
  await page.waitForFunction('location.hash === "#L120004-120006"')
  await seeLine(page, 120_000)

  // The lines before it are read after it, and it stays where it is.
  await page.waitForFunction(
    'document.querySelector("[role=log]").scrollTop = 0, document.querySelector(`[data-line="1"]`)',
  )
  await page.focus('[role="log"]')
  await page.keyboard.down('Control')
  await page.keyboard.press('a')
  await page.keyboard.up('Control')
  await waitForText(page, '200,000 lines selected')
  assert.equal((await copied(page)).split('\n').length, count)
  await page.close()
}

async function follows(site: Site, id: string): Promise<void> {
  const { page } = await openLog(site, id)
  await page.waitForSelector('[role="log"]')
  await writeLines(site, id, numbered(1, 300))
  await seeLine(page, 300)

  await page.evaluate(`(() => {
    const text = document.querySelector('[data-line="299"] [data-text]').firstChild
    const range = document.createRange()
    range.selectNodeContents(text)
    document.getSelection().addRange(range)
  })()`)
  await writeLines(site, id, numbered(301, 500))
  await seeLine(page, 500)
  assert.equal(await page.evaluate('String(document.getSelection())'), 'output 299')
  await page.evaluate('document.getSelection().empty()')

  await page.hover('[role="log"]')
  await page.mouse.wheel({ deltaY: -1_000 })
  await page.waitForFunction('!document.querySelector(`[data-line="500"]`)')
  const seen = await visibleNumbers(page)
  await writeLines(site, id, numbered(501, 537))
  await waitForText(page, '37 new lines')
  assert.deepEqual(await visibleNumbers(page), seen)
  await page.locator('button ::-p-text(37 new lines)').click()
  await seeLine(page, 537)
  await page.close()
}

async function catchesUp(site: Site, id: string): Promise<void> {
  const { page } = await openLog(site, id)
  await seeLine(page, 537)
  await setHidden(page, true)
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.headers()['last-event-id'] ?? ''))
  await writeLines(site, id, numbered(538, 600))
  await setHidden(page, false)
  await seeLine(page, 600)
  assert.ok(requests.includes('537'), `${requests} begin after the last line`)
  await page.close()
}

async function showsService(site: Site): Promise<void> {
  const { call, openPage, storage, url } = site
  const { id } = (await call('GET', '/api/v1/services/shop')).body as { id: string }
  const write = (text: string, instance: number) =>
    storage.runtimeLogs.append(id, 'stdout', text, undefined, { instance: `${instance}` })
  const request = (path: string, status: number) => writeRequest(site, { serviceId: id, path, status })
  for (let number = 1; number <= 300; number++) write(`output ${number}`, number % 2)
  request('/first', 200)
  const { page, complaints } = await openPage()
  page.setDefaultTimeout(60_000)
  await page.goto(`${url}/services/shop/logs`)
  await seeLine(page, 300)
  write('output 301', 0)
  await seeLine(page, 301)

  await page.select('select[aria-label="Instance"]', '1')
  await seesOneInstance(page)
  await page.locator('[aria-label="Find in log"]').fill('output 299')
  await page.waitForFunction('/^.q=output.+299&instance=1$/.test(location.search)')
  await page.reload()
  await waitForText(page, '1 match')
  await seesOneInstance(page)

  await page.locator('button ::-p-text(Requests)').click()
  await waitForText(page, 'GET /first')
  await page.select('select[aria-label="Status"]', '5')
  await page.waitForFunction('/kind=access&status=5/.test(location.search)')
  request('/good', 200)
  request('/bad', 502)
  await waitForText(page, 'GET /bad')
  assert.match(String(await listOf(page, '[data-text]', 'textContent')), /^GET \/bad 502 [^,]+$/)
  await page.goBack()
  await seesOneInstance(page)
  assert.deepEqual(complaints, [])
  await page.close()
}

async function seesOneInstance(page: Page): Promise<void> {
  await page.waitForSelector('select[aria-label="Instance"] option[value="1"]:checked')
  await page.waitForFunction(`!document.querySelector('[data-line="300"]')`)
  await seeLine(page, 299)
}

const hostileLines = [
  '<script>alert(1)</script><img src=x onerror=alert(1)>',
  'javascript:alert(1) http://a.test/"onmouseover="alert(1)',
  '\u001b]0;title\u0007\u001b[2J\u001b[H\u001b[8mhidden\u001b[0m',
  'user\u202eexe.txt\u2066 \u200f',
  '10%\r20%\rdone',
  `\u001b[31m${'\u001b[1mx'.repeat(50_000)}`,
  'e\u0301'.repeat(20_000),
  '日本語'.repeat(2_000),
  'x'.repeat(1024 * 1024),
]

async function showsHostileText(site: Site): Promise<void> {
  const id = await nextDeploy(site)
  const { page, complaints } = await openLog(site, id)
  await writeLines(site, id, [...hostileLines, 'the end'])
  await waitForText(page, 'the end')
  await page.evaluate(
    'document.querySelector("[role=log]").dispatchEvent(new WheelEvent("wheel", { deltaY: -1 }))',
  )
  await page.evaluate('document.querySelector("[role=log]").scrollTop = 0')
  await seeLine(page, 1)
  const texts = await listOf(page, '[data-text]', 'textContent')
  assert.deepEqual(texts.slice(0, 5), [
    hostileLines[0],
    hostileLines[1],
    '␛]0;title␇␛[2J␛[Hhidden',
    'user\\u202eexe.txt\\u2066 \\u200f',
    'done',
  ])
  assert.deepEqual(await listOf(page, '[data-text] [href]', 'href'), ['http://a.test/'])
  assert.ok((await page.$$('[role="log"] *')).length < 10_000)
  const rowsPx = await listOf(page, '[data-line]', 'clientHeight')
  const textsPx = await listOf(page, '[data-text]', 'clientHeight')
  for (const [index, px] of textsPx.entries()) {
    assert.ok(Number(px) <= Number(rowsPx[index]), `a text of ${px} px is in a row of ${rowsPx[index]} px`)
  }
  await page.locator('button ::-p-text(more rows)').click()
  assert.deepEqual(complaints, [])
  await page.close()
}

async function fillsScreen(site: Site, id: string): Promise<void> {
  const { page } = await openLog(site, id, { screen: { viewport: phone, scheme: 'dark' } })
  await seeLine(page, 600)
  await page.locator('::-p-aria(Full screen)').click()
  await page.waitForFunction('document.querySelector("section[data-large]")')
  const { width, height } = (await (await page.$('section[data-large]'))!.boundingBox())!
  assert.deepEqual([width, height], [phone.width, phone.height])
  assert.equal(await page.$eval('nav', (nav) => nav.closest('[inert]') !== null), true)
  await page.keyboard.press('Escape')
  await page.waitForFunction('!document.querySelector("section[data-large]")')
  await page.close()
}

function* numbered(first: number, last: number): Generator<string> {
  for (let number = first; number <= last; number++) yield `output ${number}`
}

async function waitForText(page: Page, text: string): Promise<void> {
  await page.waitForSelector(`::-p-text(${text})`)
}

function listOf(page: Page, selector: string, property: string): Promise<unknown[]> {
  const list = `[...document.querySelectorAll('${selector}')].map((one) => one.${property})`
  return page.evaluate(list) as Promise<unknown[]>
}

async function seeLine(page: Page, number: number): Promise<void> {
  const deadline = Date.now() + 120_000
  for (;;) {
    const seen = await visibleNumbers(page)
    if (seen.includes(number)) return
    assert.ok(Date.now() < deadline, `line ${number} is not among ${seen[0]} to ${seen.at(-1)}`)
    await page.waitForFunction('new Promise(requestAnimationFrame)')
  }
}

/** What copying gives. */
function copied(page: Page): Promise<string> {
  return page.evaluate(`new Promise((resolve) => {
    addEventListener('copy', (event) => resolve(event.clipboardData.getData('text/plain')), { once: true })
    document.execCommand('copy')
  })`) as Promise<string>
}

async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  `)
}
