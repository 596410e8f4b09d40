// The page of a deploy with a log of any length.
import type { Page } from 'puppeteer-core'
import type { AccessLine } from '../../../src/edge/access-line.ts'
import { AccessLog } from '../../../src/effects/logs/access-log.ts'
import { TrafficNumbers } from '../../../src/effects/traffic/traffic-numbers.ts'
import type { LogStream } from '../../../storage/log/logs.ts'
import { accessLine } from '../http/access-line.ts'
import { desktop, type Screen, type Visitor } from '../system/chromium.ts'
import type { openSite } from './site.ts'

export type Site = Awaited<ReturnType<typeof openSite>>

/** The machine may be busy. */
const patienceMs = 120_000

export async function openLog(
  site: Site,
  id: string,
  { hash = '', screen = { viewport: desktop, scheme: 'light' } }: { hash?: string; screen?: Screen } = {},
): Promise<Visitor> {
  const visitor = await site.openPage(screen)
  visitor.page.setDefaultTimeout(patienceMs)
  await visitor.page.goto(`${site.url}/services/shop/deploys/${id}${hash}`)
  return visitor
}

const batchLines = 5_000

/** Writes lines as the server does. */
export async function writeLines(
  { storage: { logs } }: Pick<Site, 'storage'>,
  id: string,
  texts: Iterable<string>,
  stream: LogStream = 'stdout',
): Promise<void> {
  let count = 0
  for (const text of texts) {
    logs.append(id, stream, text)
    if (++count % batchLines === 0) await logs.flush(id)
  }
  await logs.flush(id)
}

/** As the server does for each request to a service. */
export function writeRequest({ storage }: Pick<Site, 'storage'>, line: Partial<AccessLine>): void {
  new AccessLog({ storage, traffic: new TrafficNumbers() }).recordAccess(accessLine(line))
}

/** The numbers of the lines that can be seen. */
export async function visibleNumbers(page: Page): Promise<number[]> {
  const numbers = await page.evaluate(`(() => {
    const box = document.querySelector('[role="log"]')
    if (!box) return []
    const { top, bottom } = box.getBoundingClientRect()
    const rows = [...box.querySelectorAll('[data-line]')].filter((row) => {
      const place = row.getBoundingClientRect()
      return place.bottom > top + 1 && place.top < bottom - 1
    })
    return rows.map((row) => Number(row.dataset.line))
  })()`)
  return numbers as number[]
}
