// A signed-in visitor of the dashboard, and what must be true of whatever a page shows.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import type { Browser, HTTPRequest, Page } from 'puppeteer-core'
import { openVisitor, type Screen } from '../system/chromium.ts'
import type { Stage } from './stage.ts'

/** What the server says in place of the stage; `null` is no answer, `break` a broken connection. */
export type Answers = Record<string, { status?: number; body: unknown } | null | 'break'>

export interface StagedPage {
  path: string
  /** All are shown when the page is complete. */
  texts: string[]
  /** Even if empty, the page is expected to get a refusal, which the browser reports. */
  answers?: Answers
  /** The labels of buttons, which are pressed then. */
  press?: string[]
  /** Shown after that. */
  shows?: string[]
}

export interface Visitor {
  page: Page
  /** What the browser has reported since the last call. */
  complaints(): string[]
  open(staged: StagedPage): Promise<void>
}

export async function visit(
  browser: Browser,
  { url, browser: { jar } }: Stage,
  screen: Screen,
): Promise<Visitor> {
  const { page, complaints } = await openVisitor(browser, screen)
  for (const [name, value] of jar)
    await page.browserContext().setCookie({ name, value, domain: '127.0.0.1', path: '/', sameSite: 'Strict' })
  let answers: Answers = {}
  let isRefused = false
  await page.setRequestInterception(true)
  page.on('request', (request) => void respond(request, answers))
  return {
    page,
    complaints: () =>
      complaints.splice(0).filter((text) => !isRefused || !text.includes('Failed to load resource')),
    async open({ path, texts, answers: staged, press = [], shows = [] }) {
      // The page before may still ask, and complain.
      await page.goto('about:blank')
      complaints.splice(0)
      answers = staged ?? {}
      isRefused = staged !== undefined
      await page.goto(`${url}${path}`)
      for (const text of texts) await seeText(page, text)
      for (const label of press) await page.locator(`main button ::-p-text(${label})`).click()
      for (const text of shows) await seeText(page, text)
    },
  }
}

async function respond(request: HTTPRequest, answers: Answers): Promise<void> {
  const { pathname, search } = new URL(request.url())
  const path = pathname.replace(/^\/api\/v1/, '')
  // The address of a page may be that of its first request.
  const isPage = pathname === path
  const keys = [
    `${request.method()} ${path}`,
    ...(request.method() === 'GET' ? [`${path}${search}`, path] : []),
  ]
  const key = isPage ? undefined : keys.find((one) => one in answers)
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
export async function checkPage({ page, complaints }: Visitor, { viewport, scheme }: Screen): Promise<void> {
  const problems = [
    ...complaints(),
    ...(await violations(page)),
    ...(await overflow(page)),
    ...(await smallTargets(page, viewport.hasTouch ? 44 : 24)),
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
  closest(selector: string): Shown | null
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

/** Links inside a sentence, and in a log, may be as tall as their line. */
function smallTargets(page: Page, minPx: number): Promise<string[]> {
  return page.$$eval(
    'a[href], button, input, select, textarea, summary, [role="tab"], [role="option"]',
    (all, minPx) =>
      (all as unknown as Shown[])
        .map((one) => ({
          one,
          box: (one.closest('label:has([type="checkbox"])') ?? one).getBoundingClientRect(),
        }))
        .filter(({ one, box }) => {
          const isHidden =
            box.width <= 1 || !one.checkVisibility({ visibilityProperty: true }) || box.right < 0
          const isInText = String(one.computedStyleMap().get('display')) === 'inline'
          return (
            !isHidden &&
            !isInText &&
            one.closest('[role="log"]') === null &&
            (box.height < minPx - 0.5 || box.width < 23.5)
          )
        })
        .map(
          ({ one, box }) =>
            `${Math.round(box.width)} × ${Math.round(box.height)} px: ${one.outerHTML.slice(0, 120)}`,
        ),
    minPx,
  )
}

async function attacks(page: Page): Promise<string[]> {
  const hasRun = await page.evaluate(() => 'attacked' in globalThis)
  const isMarkup = (await page.$('img[src="x"], script:not([src])')) !== null
  return hasRun || isMarkup ? ['a text was taken for markup'] : []
}
