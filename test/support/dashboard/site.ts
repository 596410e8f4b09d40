// The dashboard in a real browser, on a real API without Docker: tests set what its deploys do.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { TestContext } from 'node:test'
import type { Browser } from 'puppeteer-core'
import type { Deploy } from '../../../src/api/deploy.ts'
import { openDashboard } from '../../../src/http/pages/dashboard.ts'
import { openApi } from '../../../src/http/pipeline/api.ts'
import type { HttpContext } from '../../../src/http/pipeline/context.ts'
import type { Server } from '../../../src/http/server/server.ts'
import { startWithAccount } from '../http/account.ts'
import { openBrowser } from '../http/browser.ts'
import { silentLogger } from '../supervisor/supervision.ts'
import { desktop, openChromium, openVisitor, type Screen } from '../system/chromium.ts'
import { ensureDashboard } from './build.ts'

/** Leads to this machine without being loopback: pages there have neither locks nor a clipboard. */
const lanHost = 'berth.test'

export async function openSite(t: TestContext, browser?: Browser) {
  await ensureDashboard()
  const allowedHosts = (host: string) => /^(127\.0\.0\.1|berth\.test)(:\d+)?$/.test(host)
  const api = await startWithAccount(t, { dashboard: openDashboard(), allowedHosts })
  const port = await freePort()
  let server = await serve({})
  const url = `http://127.0.0.1:${port}`
  const session = openBrowser(url)
  await session.signIn()
  const [[name, value] = ['', '']] = session.jar
  const rule = `--host-resolver-rules=MAP ${lanHost} 127.0.0.1`
  const chromium = browser ?? (await openChromium(t, [rule]))

  /** Signed in. */
  async function openPage(screen: Screen = { viewport: desktop, scheme: 'light' }) {
    const visitor = await openVisitor(chromium, screen)
    const cookies = ['127.0.0.1', lanHost].map((domain) => ({ name, value, domain, path: '/' }))
    await visitor.page.browserContext().setCookie(...cookies)
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

  async function serve(differences: Partial<HttpContext>): Promise<Server> {
    const options = { host: '127.0.0.1', port, logger: silentLogger }
    const opened = await openApi({ ...api.context, ...differences }, options)
    t.after(() => opened.stop(0))
    return opened
  }

  /** Cuts every connection. Returns a function that serves again, by a server with these differences. */
  async function stop() {
    await server.stop(0)
    return async (differences: Partial<HttpContext> = {}) => {
      server = await serve(differences)
    }
  }

  const lanUrl = `http://${lanHost}:${port}`
  return { ...api, url, lanUrl, session, openPage, addService, stop }
}

/** A server that chose its port itself cannot be opened there again at once. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
