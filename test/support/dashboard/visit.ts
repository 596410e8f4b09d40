// A signed-in visitor of the dashboard, and what must be true of whatever a page shows.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import type { Browser, HTTPRequest, Page } from 'puppeteer-core'
import { openVisitor, type Screen } from '../system/chromium.ts'
import type { Stage } from './stage.ts'

/** What the server says in place of the stage; `null` is no answer, `break` a broken connection. */
export type Answers = Record<string, { status?: number; body: unknown } | null | 'break'>

export interface Visit {
  page: Page
  complaints: string[]
  /** By the path below /api/v1, with its query or without. */
  answers: Answers
  /** Opens an address and waits for a text. */
  open(path: string, text: string): Promise<void>
}

export async function visit(
  browser: Browser,
  { url, browser: { jar } }: Stage,
  screen: Screen,
): Promise<Visit> {
  const { page, complaints } = await openVisitor(browser, screen)
  for (const [name, value] of jar)
    await page.browserContext().setCookie({ name, value, domain: '127.0.0.1', path: '/', sameSite: 'Strict' })
  const visit: Visit = {
    page,
    complaints,
    answers: {},
    async open(path, text) {
      await page.goto(`${url}${path}`)
      await seeText(page, text)
    },
  }
  await page.setRequestInterception(true)
  page.on('request', (request) => void respond(request, visit.answers))
  return visit
}

async function respond(request: HTTPRequest, answers: Answers): Promise<void> {
  const { pathname, search } = new URL(request.url())
  const path = pathname.replace(/^\/api\/v1/, '')
  const key = [`${path}${search}`, path].find((one) => one in answers)
  if (key === undefined) return request.continue()
  const answer = answers[key]
  if (answer === null) return
  if (answer === 'break') return request.abort('connectionreset')
  const { status = 200, body } = answer!
  const headers = { 'x-request-id': 'the-request-id' }
  await request.respond({ status, headers, contentType: 'application/json', body: JSON.stringify(body) })
}

export async function seeText(page: Page, text: string): Promise<void> {
  await page.waitForSelector(`::-p-text(${text})`, { timeout: 60_000 })
}

/** Fails with everything that is wrong with what the page shows now. */
export async function checkPage({ page, complaints }: Visit, { viewport, scheme }: Screen): Promise<void> {
  const problems = [
    ...complaints.splice(0),
    ...(await violations(page)),
    ...(await overflow(page)),
    ...(await attacks(page)),
  ]
  assert.deepEqual(problems, [], `${page.url()} at ${viewport.width} px, ${scheme}`)
}

const axe = createRequire(import.meta.url)('axe-core') as { source: string }
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

interface Axe {
  run(
    options: object,
  ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>
}

/** Evaluated, not added as a script: the policy forbids that. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as { axe: Axe }
    const { violations } = await axe.run({ runOnly, resultTypes: ['violations'] })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
    )
  }, tags)
}

/** What the tests know of an element in the page. */
interface Shown {
  parentElement: Shown | null
  outerHTML: string
  getBoundingClientRect(): { width: number; height: number; right: number }
  computedStyleMap(): { get(name: string): unknown }
  checkVisibility(options: object): boolean
}

async function overflow(page: Page): Promise<string[]> {
  const { scroll, client } = await page.$eval('html', ({ scrollWidth, clientWidth }) => ({
    scroll: scrollWidth,
    client: clientWidth,
  }))
  if (scroll <= client) return []
  const wide = await page.$$eval(
    'body *',
    (all, limit) =>
      (all as unknown as Shown[])
        .filter((one) => {
          if (one.getBoundingClientRect().right <= limit + 1) return false
          for (let at: Shown | null = one.parentElement; at; at = at.parentElement)
            if (String(at.computedStyleMap().get('overflow-x')) !== 'visible') return false
          return true
        })
        .map((one) => one.outerHTML.slice(0, 80)),
    client,
  )
  return [`${scroll} px wide on ${client}: ${wide.slice(-5).join(' ')}`]
}

async function attacks(page: Page): Promise<string[]> {
  const hasRun = await page.evaluate(() => 'attacked' in globalThis)
  const isMarkup = (await page.$('img[src="x"], script:not([src])')) !== null
  return hasRun || isMarkup ? ['a text was taken for markup'] : []
}
