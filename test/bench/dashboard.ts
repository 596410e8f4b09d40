// The first page of the dashboard on three connections, and how soon it shows what was stored.
import type { TestContext } from 'node:test'
import { openSite } from '../support/dashboard/site.ts'
import type { Bench } from './bench.ts'
import { type Figure, figure, median, percentile } from './figure.ts'

interface Connection {
  name: string
  /** How many times slower than this machine. */
  cpu: number
  /** Bytes per second; -1 for no limit. */
  rate: number
  latencyMs: number
  lcpGoalMs: number
}

const connections: Connection[] = [
  { name: 'LAN', cpu: 1, rate: -1, latencyMs: 0, lcpGoalMs: 500 },
  { name: 'phone', cpu: 4, rate: 1_250_000, latencyMs: 40, lcpGoalMs: 1_200 },
  { name: 'bad network', cpu: 4, rate: 200_000, latencyMs: 150, lcpGoalMs: 2_500 },
]

type Site = Awaited<ReturnType<typeof openSite>>

export async function measureDashboard(bench: Bench): Promise<Figure[]> {
  const site = await openSite(bench as unknown as TestContext)
  const deploys: string[] = []
  for (let index = 0; index < 20; index++) {
    const fields = { status: 'live', commit_sha: 'a1b2c3d', commit_message: 'Fix the cart' } as const
    deploys.push(await site.addService(`shop-${index}`, fields))
  }
  const figures: Figure[] = []
  for (const connection of connections) {
    bench.log(`loading on ${connection.name}`)
    const loads = []
    for (let round = 0; round < bench.size(7, 1); round++) loads.push(await load(site, connection))
    const { name, lcpGoalMs } = connection
    const lcpMs = median(loads.map(({ lcpMs }) => lcpMs))
    figures.push(figure(`services on ${name}: largest contentful paint`, lcpMs, 'ms', { atMost: lcpGoalMs }))
    if (connection.cpu > 1) continue
    const cpuMs = median(loads.map(({ cpuMs }) => cpuMs))
    figures.push(figure('its CPU time of the main thread', cpuMs, 'ms', { atMost: 150 }))
    const shift = median(loads.map(({ shift }) => shift))
    figures.push(figure('its cumulative layout shift', shift, '', { atMost: 0.02 }))
  }
  bench.log('following')
  const lagsMs = await follow(site, deploys)
  bench.log('pressing')
  const { pagesMs, pressesMs } = await press(site, bench.size(20, 2))
  return [
    ...figures,
    figure('from commit to page, p95', percentile(lagsMs, 95), 'ms', { atMost: 100 }),
    figure('from a click to a page that was read before, p95', percentile(pagesMs, 95), 'ms', {
      atMost: 100,
    }),
    figure('from a press to its pressed state, p95', percentile(pressesMs, 95), 'ms', { atMost: 50 }),
  ]
}

async function load(site: Site, { cpu, rate, latencyMs }: Connection) {
  const { page } = await site.openPage()
  const session = await page.createCDPSession()
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  await session.send('Emulation.setCPUThrottlingRate', { rate: cpu })
  await session.send('Network.enable')
  const throughput = { downloadThroughput: rate, uploadThroughput: rate }
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: latencyMs,
    ...throughput,
  })
  await page.evaluateOnNewDocument(observe)
  await page.goto(`${site.url}/services`)
  await page.waitForSelector('[data-row="shop-19"]')
  // The last paint is reported a little later.
  await new Promise((resolve) => setTimeout(resolve, 700))
  const { lcp, shift } = (await page.evaluate('({ lcp, shift })')) as Observed
  const { metrics } = await session.send('Performance.getMetrics')
  const taskSeconds = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0
  await page.browserContext().close()
  return { lcpMs: lcp, shift, cpuMs: taskSeconds * 1000 }
}

interface Observed {
  lcp: number
  shift: number
}

/** Runs in the page, before its scripts. */
const observe = `
  shift = 0
  new PerformanceObserver((list) => { lcp = list.getEntries().at(-1).startTime })
    .observe({ type: 'largest-contentful-paint', buffered: true })
  new PerformanceObserver((list) => { for (const { value } of list.getEntries()) shift += value })
    .observe({ type: 'layout-shift', buffered: true })
`

/** From the commit of a phase to its word in the page, in ms. */
async function follow(site: Site, deploys: string[]): Promise<number[]> {
  const { page } = await site.openPage()
  await page.goto(`${site.url}/services`)
  await page.waitForSelector('[data-kind="live"]')
  const lagsMs: number[] = []
  for (const id of deploys) {
    await page.evaluate(watch)
    await site.setDeploy(id, { status: 'running', phase: 'starting' })
    const committedAt = Date.now()
    await page.waitForFunction('shownAt')
    lagsMs.push(Number(await page.evaluate('shownAt')) - committedAt)
    await site.setDeploy(id, { status: 'live' })
    await page.waitForFunction("!document.body.textContent.includes('Starting')")
  }
  return lagsMs
}

/** Runs in the page: the time when it shows the phase. */
const watch = `
  shownAt = null
  new MutationObserver((_, observer) => {
    if (!document.body.textContent.includes('Starting')) return
    observer.disconnect()
    shownAt = Date.now()
  }).observe(document.body, { subtree: true, childList: true, characterData: true })
`

/** Goes to and from a service that was read before, and deploys it. */
async function press(site: Site, rounds: number) {
  const { page } = await site.openPage()
  const pagesMs: number[] = []
  const pressesMs: number[] = []
  const msUntil = async (clicked: string, shown: string) => {
    await page.waitForSelector(clicked)
    await page.evaluate(`(${timePress})(${JSON.stringify(shown)})`)
    await page.click(clicked)
    await page.waitForFunction('pressMs')
    return Number(await page.evaluate('pressMs'))
  }
  await page.goto(`${site.url}/services/shop-0`)
  await page.waitForSelector('main h1')
  for (let round = 0; round < rounds; round++) {
    await msUntil('nav a[href="/services"]', 'a[href="/services/shop-0"]')
    pagesMs.push(await msUntil('main a[href="/services/shop-0"]', '[data-keys="d"]'))
    pressesMs.push(await msUntil('[data-keys="d"]', '[data-keys="d"][aria-busy="true"]'))
    await page.goto(`${site.url}/services/shop-0`)
  }
  return { pagesMs, pressesMs }
}

/** Runs in the page: the time from the next press until a selector fits and that frame is painted. */
const timePress = `(selector) => {
  pressMs = null
  addEventListener('click', ({ timeStamp }) => {
    const observer = new MutationObserver(look)
    observer.observe(document.body, { subtree: true, childList: true, attributes: true })
    function look() {
      if (!document.querySelector(selector)) return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => { pressMs = performance.now() - timeStamp }))
    }
  }, { once: true, capture: true })
}`
