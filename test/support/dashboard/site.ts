// The dashboard in a real browser, on a real API without Docker: tests set what its deploys do.
import type { TestContext } from 'node:test'
import type { Browser } from 'puppeteer-core'
import type { Deploy } from '../../../src/api/deploy.ts'
import { openDashboard } from '../../../src/http/pages/dashboard.ts'
import { startWithAccount } from '../http/account.ts'
import { desktop, openChromium, openVisitor, type Screen } from '../system/chromium.ts'
import { ensureDashboard } from './build.ts'

export async function openSite(t: TestContext, browser?: Browser) {
  await ensureDashboard()
  const api = await startWithAccount(t, { dashboard: openDashboard() })
  const [[name, value] = ['', '']] = api.browser.jar
  const chromium = browser ?? (await openChromium(t))

  /** Signed in. */
  async function openPage(screen: Screen = { viewport: desktop, scheme: 'light' }) {
    const visitor = await openVisitor(chromium, screen)
    await visitor.page.browserContext().setCookie({ name, value, domain: '127.0.0.1', path: '/' })
    return visitor
  }

  /** With a deploy in that state. Returns the id of the deploy. */
  async function addService(name: string, fields: Partial<Deploy>): Promise<string> {
    const service = await api.call('POST', '/api/v1/services', {
      body: { name, image: 'registry.test/app:1' },
    })
    const { id } = (service.body as { latest_deploy: Deploy }).latest_deploy
    await api.setDeploy(id, { created_at: new Date().toISOString(), ...fields })
    return id
  }

  return { ...api, openPage, addService }
}
