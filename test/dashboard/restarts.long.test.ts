// A daemon that is killed while deploys are in each of their phases: every open tab stays true, and follows
// them to their end without a reload. Uses a private engine.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrowserContext, Page } from 'puppeteer-core'
import {
  createPausedService,
  type PausedService,
  type Phase,
  pauseDeploys,
  resumeDeploys,
} from '../support/daemon/paused-deploys.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { finishedDeploy } from '../support/daemon/service.ts'
import { ensureDashboard } from '../support/dashboard/build.ts'
import { openSite, testInside } from '../support/docker/engine-site.ts'
import { signUp } from '../support/http/session.ts'
import { desktop, lackOfBrowser, openChromium, openVisitor } from '../support/system/chromium.ts'
import { isInside, whyNoNamespace } from '../support/system/namespace.ts'

const phases: Phase[] = [
  'queued',
  'fetching',
  'building',
  'pulling',
  'preparing',
  'starting',
  'checking',
  'switching',
]
/** Fixed, because the namespace is private: the pages find the daemon again. */
const port = 7998
const patience = { timeout: 180_000 }
/** Of the feed. */
const rightWithin = { timeout: 3_000 }

/** One place of a page that shows a deploy. */
interface Tab {
  page: Page
  place: string
  before: RegExp
  after: RegExp
}

const scope = fileScope()

function inside(): void {
  test('every tab is right after the daemon was killed in each phase', async (t) => {
    await ensureDashboard()
    const { daemon, holds } = await openSite(scope, process.env.PREPARED!, [`--listen=127.0.0.1:${port}`])
    const { api } = holds
    const services = await Promise.all(phases.map((phase) => createPausedService(scope, holds, phase)))
    await pauseDeploys(holds, services, 1)
    const { cookie } = await signUp(api.url, daemon.dataDir)
    const { page } = await openVisitor(await openChromium(t), { viewport: desktop, scheme: 'light' })
    const tabs = await openTabs(page.browserContext(), api.url, cookie, services)
    const reloads: string[] = []
    for (const { page } of tabs) page.on('load', () => reloads.push(page.url()))

    await daemon.kill()
    for (const tab of tabs) await shows(tab, tab.before, 'broken')

    await daemon.start()
    for (const { id, phase } of services) {
      const deploy = await api.get(`/deploys/${id}`)
      assert.equal(deploy.phase ?? deploy.status, phase)
    }
    for (const tab of tabs) await shows(tab, tab.before, 'live')

    resumeDeploys(holds)
    for (const { id, phase } of services)
      assert.equal((await finishedDeploy(api, id)).status, 'live', `${phase} does not end well`)
    for (const tab of tabs) await shows(tab, tab.after, 'live')
    for (const { page, before } of tabs.filter(({ place }) => place === 'h1')) {
      const steps = await page.$$eval('ol > li', (all) => all.map(({ textContent }) => textContent))
      const resumed = steps.filter((text) => text.includes('Resumed after a restart'))
      assert.equal(resumed.length, 1)
      assert.match(resumed[0]!, before)
    }
    assert.deepEqual(reloads, [])
  })
}

/** The list, and the page of each deploy. */
async function openTabs(context: BrowserContext, url: string, cookie: string, services: PausedService[]) {
  const [name = '', value = ''] = cookie.split('=')
  await context.setCookie({ name, value, domain: '127.0.0.1', path: '/', sameSite: 'Strict' })
  const open = async (path: string) => {
    const page = await context.newPage()
    await page.goto(`${url}/services${path}`)
    return page
  }
  const list = await open('')
  const tabs: Tab[] = []
  for (const { name, phase, id } of services) {
    const word = phase === 'queued' ? 'Waiting for its turn' : phase
    const row = {
      page: list,
      place: `tr:has([data-row="${name}"])`,
      before: new RegExp(`^Live, a deploy is in progress${name}${word}`, 'i'),
      after: new RegExp(`^Live${name}`),
    }
    const page = await open(`/${name}/deploys/${id}`)
    tabs.push(row, { page, place: 'h1', before: new RegExp(phase, 'i'), after: /Live$/ })
  }
  for (const tab of tabs) await shows(tab, tab.before, 'live')
  return tabs
}

/** A hidden tab reads nothing; it catches up when it is shown. */
async function shows({ page, place }: Tab, words: RegExp, connection: string): Promise<void> {
  await page.bringToFront()
  await page.waitForSelector(`html[data-connection="${connection}"]`, patience)
  const text = `document.querySelector('${place}')?.textContent`
  await page.waitForFunction(`${words}.test(${text})`, rightWithin).catch(async (error) => {
    throw new Error(`${await page.evaluate(text)} is not ${words}`, { cause: error })
  })
}

const obstacle = (await lackOfBrowser()) ?? (await whyNoNamespace())
if (isInside) inside()
else testInside('deploys are watched across a killed daemon', import.meta.url, obstacle)
