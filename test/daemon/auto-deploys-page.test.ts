// The page of a service in a browser, while pushes come to a real repository: what it says is what happened.
import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { test } from 'node:test'
import { finishedDeploy, pageApp } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { ensureDashboard } from '../support/dashboard/build.ts'
import { signUp } from '../support/http/session.ts'
import { desktop, lackOfBrowser, openChromium, openVisitor } from '../support/system/chromium.ts'

const inBrowser = { skip: (await lackOfBrowser()) ?? false }
if (!inBrowser.skip) await ensureDashboard()
const suite = daemonSuite()
const patience = { timeout: 180_000 }

test('a page follows pushes, a rollback, and a source that fails, without a reload', inBrowser, async (t) => {
  const { api, daemon } = suite
  const { name, repository, first } = await createService(t, api, await pageApp('one'))
  const { page, complaints } = await openVisitor(await openChromium(t), {
    viewport: desktop,
    scheme: 'light',
  })
  const [cookie = '', value = ''] = (await signUp(api.url, daemon.dataDir)).cookie.split('=')
  await page.browserContext().setCookie({ name: cookie, value, domain: '127.0.0.1', path: '/' })
  await page.goto(`${api.url}/services/${name}`)
  const reloads: string[] = []
  page.on('load', () => reloads.push(page.url()))
  const sees = (text: string) => page.waitForSelector(`main ::-p-text(${text})`, patience)
  const press = (label: string) => page.locator(`main button ::-p-text(${label})`).click()
  let pollSeconds = 1000
  /** A new interval begins with a look. */
  const look = () => api.call('PATCH', `/services/${name}`, { poll_seconds: ++pollSeconds })
  await sees('Pushes to main are deployed.')

  const skipped = repository.commit('Two [skip deploy]', { 'www/index.html': 'two' })
  await look()
  await sees(`Not deployed: ${skipped.slice(0, 7)}`)
  await sees('Its message asks for no deploy.')

  const head = repository.commit('Three', { 'www/index.html': 'three' })
  await look()
  await sees(`Deployed ${head.slice(0, 7)}`)
  const { decision } = (await api.get(`/services/${name}`)).auto_deploys
  assert.ok(await page.$(`main a[href="/services/${name}/deploys/${decision.deploy_id}"]`))
  assert.equal((await finishedDeploy(api, decision.deploy_id)).status, 'live')

  const rollback = await api.post(`/services/${name}/rollback`, { deploy_id: first.id })
  await sees('would bring back what the rollback')
  await finishedDeploy(api, rollback.id)
  const next = repository.commit('Four', { 'www/index.html': 'four' })
  await press('Resume')
  await sees(`Deployed ${next.slice(0, 7)}`)
  const resumed = (await api.get(`/services/${name}`)).auto_deploys.decision
  await finishedDeploy(api, resumed.deploy_id)

  renameSync(repository.directory, `${repository.directory}-away`)
  await look()
  await sees('Automatic deploys fail since')
  await sees('there is no such directory on this host')
  renameSync(`${repository.directory}-away`, repository.directory)
  await look()
  await sees('Pushes to main are deployed.')
  await press('Turn off')
  await sees('Off. Pushes to main are not deployed.')

  await page.locator('main a ::-p-text(Chart)').click()
  await page.waitForSelector('h1 ::-p-text(auto-deploy)', patience)
  await sees('paused')
  assert.deepEqual([reloads, complaints], [[], []])
})
