// The charts in a real browser: every state of every kind is visited and seen, histories are replayed, and
// what happens appears without a reload.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'puppeteer-core'
import { catalogue, type Kind, type KindName } from '../../machines/index.ts'
import { openSite } from '../support/dashboard/site.ts'
import { seeText } from '../support/dashboard/visit.ts'
import { leavesOf, pathOfLeaf } from '../support/machines/leaves.ts'
import { transitionOf } from '../support/storage/store-fixtures.ts'
import { eventually } from '../support/supervisor/supervision.ts'
import { lackOfBrowser, textAt } from '../support/system/chromium.ts'

const inBrowser = { skip: (await lackOfBrowser()) ?? false }

type Site = Awaited<ReturnType<typeof openSite>>
type Step = [event: string, state: string]

/** An actor that has taken these steps, one per second, the last one now. */
async function stage(site: Site, kind: KindName, id: string, steps: Step[]) {
  for (const [index, [event, state]] of steps.entries())
    await move(site, kind, id, index + 1, [event, state], steps.length - index - 1)
}

function move(site: Site, kind: KindName, id: string, revision: number, step: Step, agoS = 0) {
  const [event, state] = step
  const at = new Date(Date.now() - agoS * 1000).toISOString()
  const entry = { at, event, state, status: 'running', phase: null, by: null }
  const row = { id, kind, service_id: null, revision }
  const transition = transitionOf(row, { entry, status: 'running' })
  // As in a datastore's.
  Object.assign(transition.record, { backup_schedule: null })
  const { actors } = site.storage
  return revision === 1 ? actors.create(transition) : actors.advance(transition)
}

const active = (page: Page): Promise<string[]> =>
  page.$$eval('[data-state][data-active="true"]', (states) =>
    (states as unknown as { getAttribute(name: string): string }[]).map((state) =>
      state.getAttribute('data-state'),
    ),
  )

/** Until the chart shows this. */
async function see(page: Page, state: string): Promise<void> {
  await page.waitForSelector(`[data-state="${state}"][data-active="true"]`, { timeout: 60_000 })
}

/** Until the address ends like this. */
async function seeAddress(page: Page, end: RegExp): Promise<void> {
  await eventually(`the address ends with ${end.source}`, () => end.test(page.url()))
}

test('the pages of the charts', inBrowser, async (t) => {
  const site = await openSite(t)
  const { page, complaints } = await site.openPage()
  for (const [kind, { machine }] of Object.entries<Kind>(catalogue))
    await t.test(`every state of ${kind} is seen`, () => visitAll(site, page, kind as KindName, machine))
  await t.test('a history of 500 entries is replayed, and each moment has an address', () =>
    replay(site, page),
  )
  await t.test('an actor and the activity follow what happens', () => follow(site, page))
  await t.test('a list of more than a page goes on, and follows on each page', () => showMore(site, page))
  await t.test('a parked actor is listed first, and tried again', () => retryParked(site, page))
  assert.deepEqual(complaints, [])
})

async function visitAll(site: Site, page: Page, kind: KindName, machine: Kind['machine']): Promise<void> {
  const leaves = leavesOf(machine.root)
  const id = `actor-${kind}`
  await stage(
    site,
    kind,
    id,
    leaves.map((leaf) => ['x.done', pathOfLeaf(leaf)]),
  )
  await page.goto(`${site.url}/charts/${kind}/${id}?at=1`)

  const seen = new Set<string>()
  for (const leaf of leaves) {
    await see(page, leaf.path.join('.'))
    for (const state of await active(page)) seen.add(state)
    await page.keyboard.press('ArrowRight')
  }

  const all = leaves.flatMap(({ path }) => path.map((_, index) => path.slice(0, index + 1).join('.')))
  assert.deepEqual([...seen].sort(), [...new Set(all)].sort())
  await seeAddress(page, /\/actor-[a-z-]+$/)
}

async function replay(site: Site, page: Page): Promise<void> {
  const cycle: Step[] = [
    ['startEdge.done', 'serving'],
    ['keepRoutes.failed', 'starting'],
    ['startEdge.failed', 'waiting'],
    ['sleepUntil.done', 'starting'],
  ]
  const steps = Array.from({ length: 799 }, (_, index) => cycle[index % cycle.length]!)
  await stage(site, 'edge', 'edge', [['created', 'starting'] as Step].concat(steps))
  await page.goto(`${site.url}/charts/edge/edge`)
  await seeText(page, '290 transitions not kept')
  await seeText(page, '×12')

  await page.keyboard.press('Home')
  await seeAddress(page, /\?at=1$/)
  await see(page, 'starting')
  await page.keyboard.press('ArrowRight')
  await see(page, 'serving')
  assert.ok(await page.$('[data-taken="true"]'))
  const address = page.url()
  await page.keyboard.press(' ')
  await seeAddress(page, /\?at=(4|5|6)$/)
  await page.keyboard.press(' ')
  await page.keyboard.press('End')
  await seeAddress(page, /\/edge$/)

  await page.goto(address)
  await see(page, 'serving')
  await seeText(page, 'Viewing')
  await page.locator('::-p-text(Back to now)').click()
  await see(page, 'waiting')
}

async function follow(site: Site, page: Page): Promise<void> {
  await stage(site, 'restore', 'rst-1', [['created', 'checking']])
  await page.goto(`${site.url}/charts/restore/rst-1`)
  await see(page, 'checking')
  const { page: activity } = await site.openPage()
  await activity.goto(`${site.url}/activity?kind=restore`)
  await seeText(activity, 'Requested')

  await move(site, 'restore', 'rst-1', 2, ['checkFile.done', 'loading'])

  await see(page, 'loading')
  await activity.locator('::-p-text(Checking file succeeded)').click()
  await see(activity, 'loading')
  await seeAddress(activity, /rst-1\?at=2$/)
  await page.select('select', 'loadData.failed')
  await page.waitForSelector('[data-state="undoing"][data-reached="true"]')
}

async function showMore(site: Site, page: Page): Promise<void> {
  for (let count = 1; count <= 201; count++)
    await stage(site, 'restore', `rst-more-${count}`, [['created', 'checking']])
  const rows = async () => (await page.$$('tbody tr')).length
  await page.goto(`${site.url}/charts?kind=restore`)
  await seeText(page, '200+')
  assert.equal(await rows(), 200)
  await page.locator('button ::-p-text(Show more)').click()
  await page.waitForSelector('tbody tr:nth-child(201)')
  const all = await rows()

  await move(site, 'restore', 'rst-more-99', 2, ['checkFile.failed', 'failed'])
  await page.waitForSelector(`tbody tr:nth-child(${all})`, { hidden: true })
}

async function retryParked({ context, storage, url, ...site }: Site, page: Page): Promise<void> {
  const retried = new Promise((resolve) => {
    context.actors.retry = async (id) => {
      resolve(id)
      return storage.actors.record(id)!
    }
  })
  await stage({ context, storage, url, ...site }, 'backup', 'bak-1', [['created', 'running.dumping']])
  await storage.actors.park('bak-1', 'x is not a function', new Date().toISOString(), 'failed_repeatedly')
  await page.goto(`${url}/charts`)
  await seeText(page, 'x is not a function')
  assert.match(await textAt(page, 'tbody tr'), /backup.*x is not a function/s)
  await page.goto(`${url}/charts/backup/bak-1`)
  await see(page, 'running.dumping')
  await page.locator('::-p-text(Discard…)').click()
  await seeText(page, 'are left as they are')
  await page.keyboard.press('Enter')
  await page.locator('button ::-p-text(Try again)').click()
  assert.equal(await retried, 'bak-1')
}
