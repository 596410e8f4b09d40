// The page of a deploy with a log of any length, in a real browser on a real API and store.

import type { TestContext } from 'node:test'
import type { Browser, Page } from 'puppeteer-core'
import type { Deploy } from '../../../src/api/deploy.ts'
import { openDashboard } from '../../../src/http/pages/dashboard.ts'
import { type Api, startApi } from '../http/http-context.ts'
import { signUp } from '../http/session.ts'
import { openChromium, openVisitor, type Screen } from '../system/chromium.ts'

export interface LogPage {
  api: Api
  browser: Browser
  deploy: Deploy
  /** Shows the deploy in a new tab that is signed in. */
  open(screen: Screen, hash?: string): Promise<{ page: Page; complaints: string[] }>
}

export async function startLogPage(t: TestContext): Promise<LogPage> {
  const api = await startApi(t, { dashboard: openDashboard() })
  api.storage.setupCode.ensure()
  const { cookie } = await signUp(api.url, api.storage.directory)
  const [name = '', value = ''] = cookie.split('=')
  await api.call('POST', '/api/v1/services', { body: { name: 'shop', image: 'nginx' } })
  const { body } = await api.call('POST', '/api/v1/services/shop/deploys', { body: {} })
  const deploy = body as unknown as Deploy
  const browser = await openChromium(t)
  return {
    api,
    browser,
    deploy,
    async open(screen, hash = '') {
      const visitor = await openVisitor(browser, screen)
      await visitor.page.browserContext().setCookie({ name, value, domain: '127.0.0.1', path: '/' })
      await visitor.page.goto(`${api.url}/services/shop/deploys/${deploy.id}${hash}`)
      return visitor
    },
  }
}

const batchLines = 5_000

/** Writes lines as the server itself does. */
export async function writeLines(
  { api, deploy }: LogPage,
  count: number,
  textOf: (number: number) => string,
): Promise<void> {
  const { logs } = api.storage
  for (let number = 1; number <= count; number++) {
    logs.append(deploy.id, 'stdout', textOf(number))
    if (number % batchLines === 0) await logs.flush(deploy.id)
  }
  await logs.flush(deploy.id)
}
