// The log viewer of the dashboard on a log of 200,000 lines: loading, memory, searching and scrolling.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Page } from 'puppeteer-core'
import { openLog, type Site, writeLines } from '../support/dashboard/log-page.ts'
import { openSite } from '../support/dashboard/site.ts'
import type { Bench } from './bench.ts'
import { type Figure, figure, median, percentile } from './figure.ts'

export async function measureLog(bench: Bench): Promise<Figure[]> {
  const count = bench.size(200_000, 5_000)
  // The helpers of tests only register their cleanups.
  const site = await openSite(bench as unknown as TestContext)
  const id = await site.addService('shop', { status: 'failed' })
  bench.log(`storing ${count} lines`)
  await writeLines(site, id, typicalLines(count))
  await site.storage.logs.end(id)

  const { page } = await openLog(site, id)
  await waitForText(page, `${count.toLocaleString('en')} lines`)
  const cpuMs = await openCpuMeter(page)
  const loadsMs: number[] = []
  const loadsCpuMs: number[] = []
  for (let round = 0; round < bench.size(7, 1); round++) {
    bench.log(`loading, round ${round + 1}`)
    const startedAt = performance.now()
    await page.reload()
    await waitForText(page, `${count.toLocaleString('en')} lines`)
    loadsMs.push(performance.now() - startedAt)
    loadsCpuMs.push(await cpuMs())
  }
  const heapBytes = await heapOf(page)
  const elements = await page.$$eval('[role="log"] *', ({ length }) => length)
  bench.log('searching')
  const findBefore = await cpuMs()
  await find(page)
  const findCpuMs = (await cpuMs()) - findBefore
  bench.log('scrolling')
  const cpuBefore = await cpuMs()
  const framesMs = await scroll(page, bench.size(8_000, 500))
  const frameCpuMs = ((await cpuMs()) - cpuBefore) / framesMs.length
  bench.log('pressing while lines arrive')
  const pressesMs = await pressWhileLinesArrive(site, bench.size(40, 4))
  return [
    figure(`a log of ${count} lines, until all are loaded`, median(loadsMs), 'ms', { atMost: 2_000 }),
    figure('its CPU time of the page', median(loadsCpuMs), 'ms'),
    figure('heap with all of them', heapBytes / 1e6, 'MB', { atMost: 150 }),
    figure('elements of the log', elements, ''),
    figure('CPU time of counting all matches of a letter', findCpuMs, 'ms'),
    figure('frame while scrolling 14,400 px/s, p95', percentile(framesMs, 95), 'ms', { atMost: 20 }),
    figure('frame while scrolling 14,400 px/s, median', median(framesMs), 'ms'),
    figure('its CPU time of the page', frameCpuMs, 'ms'),
    figure('interaction to next paint with 1,000 lines/s, p75', percentile(pressesMs, 75), 'ms', {
      atMost: 100,
    }),
  ]
}

function* typicalLines(count: number): Generator<string> {
  for (let number = 1; number <= count; number++) {
    const isColored = number % 10 === 0
    yield isColored
      ? `\u001b[32m✓\u001b[39m ${number} modules built in \u001b[33m${number % 97}ms\u001b[39m`
      : `GET /api/items/${number} 200 ${number % 89}ms ${'x'.repeat(number % 60)}`
  }
}

function waitForText(page: Page, text: string): Promise<unknown> {
  return page.waitForSelector(`::-p-text(${text})`)
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.createCDPSession()
  await session.send('HeapProfiler.collectGarbage')
  return (await page.metrics()).JSHeapUsedSize ?? 0
}

/** Of the page's own thread, since the navigation: other work on the machine does not change it. */
async function openCpuMeter(page: Page): Promise<() => Promise<number>> {
  const session = await page.createCDPSession()
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1_000
  }
}

async function find(page: Page): Promise<void> {
  await page.focus('input[type="search"]')
  await page.keyboard.type('x')
  await waitForText(page, 'matches')
  await page.keyboard.press('Escape')
}

/** From the middle on. Returns the times between the frames. */
function scroll(page: Page, durationMs: number): Promise<number[]> {
  return page.evaluate(`new Promise((resolve) => {
    const box = document.querySelector('[role="log"]')
    box.dispatchEvent(new WheelEvent('wheel', { deltaY: -1 }))
    box.scrollTop = box.scrollHeight / 2
    const frames = []
    let last = 0
    requestAnimationFrame(function step(now) {
      if (last > 0) {
        frames.push(now - last)
        box.scrollTop += ((now - last) * 14_400) / 1_000
      }
      last = now
      const total = frames.reduce((sum, ms) => sum + ms, 0)
      if (total < ${durationMs}) requestAnimationFrame(step)
      else resolve(frames)
    })
  })`) as Promise<number[]>
}

/** Wraps and unwraps the lines of a running deploy. Returns what the browser says each press took. */
async function pressWhileLinesArrive(site: Site, presses: number): Promise<number[]> {
  const id = await site.addService('busy', { status: 'running', phase: 'building' })
  const { page } = await site.openPage()
  await page.evaluateOnNewDocument(observePresses)
  await page.goto(`${site.url}/services/busy/deploys/${id}`)
  await page.waitForSelector('button[title="Wrap"]')
  const lines = typicalLines(Number.POSITIVE_INFINITY)
  const writing = setInterval(() => {
    for (let line = 0; line < 50; line++) site.storage.logs.append(id, 'stdout', lines.next().value!)
  }, 50)
  for (let press = 0; press < presses; press++) {
    await page.click('button[title="Wrap"]')
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  clearInterval(writing)
  const slowMs = (await page.evaluate('Object.values(presses)')) as number[]
  assert.ok(slowMs.length <= presses)
  // The browser reports none that took less than a frame.
  return [...slowMs, ...new Array(presses - slowMs.length).fill(16)]
}

/** Runs in the page, before its scripts. */
const observePresses = `
  presses = {}
  new PerformanceObserver((list) => {
    for (const { interactionId: id, duration } of list.getEntries())
      if (id) presses[id] = Math.max(presses[id] ?? 0, duration)
  }).observe({ type: 'event', durationThreshold: 16 })
`
