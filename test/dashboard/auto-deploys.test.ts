// The pages of automatic deploys and of git accounts in a real browser, on a real API.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Page } from 'puppeteer-core'
import type { GitHook } from '../../src/api/hook.ts'
import type { Service } from '../../src/api/service.ts'
import { autoDeployIdOf, planOf } from '../../src/domain/auto-deploys.ts'
import { openSite } from '../support/dashboard/site.ts'
import { seeText } from '../support/dashboard/visit.ts'
import { createGitProvider } from '../support/git/git-provider.ts'
import { connectToken } from '../support/http/git-connections.ts'
import { transitionOf } from '../support/storage/store-fixtures.ts'
import { eventually } from '../support/supervisor/supervision.ts'
import { lackOfBrowser } from '../support/system/chromium.ts'

const inBrowser = { skip: (await lackOfBrowser()) ?? false }
const head = '4f9c1e7a0b2d3c5e6f708192a3b4c5d6e7f80910'

async function openShop(t: TestContext) {
  const site = await openSite(t)
  const fake = await createGitProvider(t)
  const account = await connectToken(site, 'github', fake, fake.createToken('ada'))
  const connection = account.body.id as string
  const body = { name: 'shop', repo_url: `${fake.url}/ada/shop.git`, branch: 'main', deploy: false }
  const { id } = (await site.call('POST', '/api/v1/services', { body })).body as unknown as Service
  const hook = (await site.call('GET', `/api/v1/git/connections/${connection}/hook`))
    .body as unknown as GitHook
  const send = async (event: string, ref: string) => {
    const text = JSON.stringify({ ref, before: '', after: head, repository: { clone_url: body.repo_url } })
    const response = await fetch(`${site.url}/api/v1/hooks/github?connection=${connection}`, {
      method: 'POST',
      body: text,
      headers: {
        'content-type': 'application/json',
        'x-github-event': event,
        'x-github-delivery': `${event} ${ref}`,
        'x-hub-signature-256': `sha256=${createHmac('sha256', hook.secret).update(text).digest('hex')}`,
      },
    })
    assert.equal(response.status, 200)
  }
  const visitor = await site.openPage()
  const open = (path: string) => visitor.page.goto(`${site.url}${path}`)
  return {
    ...site,
    ...visitor,
    id,
    fake,
    hook,
    connection,
    send,
    open,
    row: () => site.storage.services.get(id)!,
  }
}

const press = (page: Page, label: string, where = 'main') =>
  page.locator(`${where} button ::-p-text(${label})`).click()
const textOf = (page: Page) => page.$eval('body', ({ textContent }) => textContent ?? '')

test('settings are saved, and what is wrong is said at its field', inBrowser, async (t) => {
  const { page, open, row, complaints } = await openShop(t)
  await open('/services/shop/auto-deploys')
  await page.locator('textarea').fill('./api\n!**/*.md')
  await press(page, 'Save')
  await seeText(page, 'without ./')
  const about = await page.$eval('textarea', (area) => area.getAttribute('aria-describedby'))
  await page.waitForSelector(`[id="${about}"] ::-p-text('./api' must begin at)`)
  assert.equal(await page.$eval('textarea', (area) => area.getAttribute('aria-invalid')), 'true')
  assert.deepEqual(row().watch_paths, [])

  await page.locator('textarea').fill('api/**\n\n !**/*.md ')
  await page.locator('input[type=number]').fill('60')
  await page.locator('input:not([type])').fill('v*')
  await page.select('select', 'required_checks')
  await press(page, 'Save')
  await eventually('the settings', () => row().poll_seconds === 60 && row().tag_pattern === 'v*')
  assert.equal(row().deploy_when, 'required_checks')
  assert.deepEqual(row().watch_paths, ['api/**', '!**/*.md'])
  await eventually(
    'the field',
    async () => (await page.$eval('textarea', ({ value }) => value)) === 'api/**\n!**/*.md',
  )
  assert.equal(complaints.filter((text) => !text.includes('400')).length, 0, String(complaints))
})

test('a path is tested with the patterns as they are typed', inBrowser, async (t) => {
  const { page, open, row } = await openShop(t)
  await open('/services/shop/auto-deploys')
  const tries = async (path: string) => {
    await page.locator('input[placeholder]').fill(path)
    await page.keyboard.press('Enter')
  }
  await tries('web/main.ts')
  await seeText(page, 'Watched: without patterns')
  await page.locator('textarea').fill('api/**\n!**/*.md')
  await page.waitForFunction("!document.querySelector('main').textContent.includes('Watched:')")
  await tries('api/docs/deep/README.md')
  await seeText(page, 'Not watched:')
  await tries('api/docs/deep/main.ts')
  await seeText(page, 'decides')
  await page.waitForFunction(
    "document.querySelector('main').textContent.includes(' Watched: api/** decides')",
  )
  assert.deepEqual(row().watch_paths, [])
})

test('automatic deploys are turned off, and resumed after a rollback', inBrowser, async (t) => {
  const { page, open, row, storage, id, complaints } = await openShop(t)
  await open('/services/shop')
  await seeText(page, 'Pushes to main are deployed.')
  await press(page, 'Turn off')
  await seeText(page, 'Off. Pushes to main are not deployed.')
  assert.equal(row().auto_deploy, false)
  await press(page, 'Turn on')
  await seeText(page, 'Pushes to main are deployed.')

  const rollback = storage.ids.newId('dep')
  await storage.services.update(id, (one) => ({ ...one, auto_deploy_paused_by: rollback }))
  await seeText(page, 'would bring back what the rollback')
  assert.ok(await page.$(`[role=status] a[href$="/deploys/${rollback}"]`))
  await press(page, 'Resume')
  await seeText(page, 'Pushes to main are deployed.')
  assert.equal(row().auto_deploy_paused_by, null)
  assert.deepEqual(complaints, [])
})

test('a delivery appears as it comes, and its head is deployed again', inBrowser, async (t) => {
  const { page, open, send, storage, id, complaints } = await openShop(t)
  await open('/services/shop/auto-deploys')
  await seeText(page, 'No provider reported a push yet')
  await send('push', 'refs/heads/main')
  await seeText(page, 'Not decided yet')
  const reason = 'its message asks for no deploy'
  const at = new Date().toISOString()
  await storage.hookDeliveries.settle(id, storage.hookDeliveries.openOf(id), { at, deploy_id: null, reason })
  await seeText(page, 'Its message asks for no deploy.')
  await press(page, 'Redeliver')
  await eventually('the page of the deploy', () => /\/deploys\/dep-/.test(page.url()))
  const deploy = storage.actors.latest('deploy', id) as { source?: { commit: string } } | null
  assert.equal(deploy?.source?.commit, head)
  assert.deepEqual(complaints, [])
})

test('the key of a deploy hook is shown on request, and replaced after a question', inBrowser, async (t) => {
  const { page, open, storage, id } = await openShop(t)
  const former = storage.hookKeys.get(id)
  await open('/services/shop/auto-deploys')
  await seeText(page, 'Show address')
  assert.doesNotMatch(await textOf(page), /bthk_/)
  await press(page, 'Show address')
  await seeText(page, former)
  await press(page, 'Replace key')
  await press(page, 'Replace key', 'dialog')
  await page.waitForFunction(`!document.body.textContent.includes('${former}')`)
  await seeText(page, storage.hookKeys.get(id))
  assert.notEqual(storage.hookKeys.get(id), former)
  await press(page, 'Hide address')
  await page.waitForFunction("!document.body.textContent.includes('bthk_')")
})

test('a deploy key is created, replaced and deleted after a question', inBrowser, async (t) => {
  const { page, open, storage, id, complaints } = await openShop(t)
  const publicKey = () => storage.deployKeys.get(id)!.publicKey
  const inPage = (text: string) => seeText(page, text)
  const gone = (text: string) =>
    page.waitForFunction(`!document.querySelector('main').textContent.includes(${JSON.stringify(text)})`)
  await storage.services.update(id, (row) => ({ ...row, repo_url: 'git@github.com:ada/shop.git' }))
  await open('/services/shop/auto-deploys')
  await press(page, 'Create deploy key')
  await inPage('None yet')
  const first = publicKey()
  await inPage(first)
  assert.ok(await page.$('a[href="https://github.com/ada/shop/settings/keys/new"]'))
  assert.doesNotMatch(await page.content(), /PRIVATE KEY/)

  const pinned = { host: 'github.com', type: 'ssh-rsa', key: 'YQ==', pinnedAt: new Date().toISOString() }
  await storage.deployKeys.pin(id, [pinned])
  await press(page, 'Replace…', '#deploy-key')
  await press(page, 'Replace', 'dialog')
  await gone(first)
  await inPage(publicKey())
  assert.notEqual(publicKey(), first)
  await inPage('pinned')
  await press(page, 'Forget…', '#deploy-key')
  await press(page, 'Forget', 'dialog')
  await inPage('None yet')
  assert.deepEqual(storage.deployKeys.get(id)!.hosts, [])

  await press(page, 'Delete…', '#deploy-key')
  await press(page, 'Delete', 'dialog')
  await inPage('Create deploy key')
  assert.equal(storage.deployKeys.get(id), null)
  assert.deepEqual(complaints, [])
})

test('a deploy key of a repository over https comes with the address to change to', inBrowser, async (t) => {
  const { page, open, storage, id, fake } = await openShop(t)
  await open('/services/shop/auto-deploys')
  await seeText(page, 'used for ssh addresses only')
  await press(page, 'Create deploy key')
  await seeText(page, `berth update shop --repo git@${new URL(fake.url).hostname}:ada/shop.git`)
  await seeText(page, 'GitLab: Settings, Repository, Deploy keys.')
  await storage.services.update(id, (row) => ({
    ...row,
    repo_url: 'ssh://git@git.example.com:2222/ada/shop',
  }))
  await page.waitForFunction("!document.querySelector('#deploy-key').textContent.includes('--repo')")
})

test('a source that cannot be read over ssh leads to the deploy key', inBrowser, async (t) => {
  const { page, open, storage, id, row } = await openShop(t)
  await storage.services.update(id, (row) => ({ ...row, repo_url: 'git@git.example.com:ada/shop.git' }))
  const { record, ...rest } = transitionOf(
    { id: autoDeployIdOf(id), kind: 'auto-deploy', service_id: id },
    { status: 'failing' },
  )
  const error = 'cannot read git@git.example.com:ada/shop.git: Permission denied (publickey)'
  const { source } = planOf(row())!
  const facts = { source, error, failing_since: new Date().toISOString() }
  await storage.actors.create({ ...rest, record: { ...record, ...facts } })
  await open('/services/shop')
  await seeText(page, 'Automatic deploys fail')
  await page.locator('main a ::-p-text(Deploy key)').click()
  // It is below the settings.
  await page.waitForFunction(
    "document.querySelector('#deploy-key')?.getBoundingClientRect().top < innerHeight && scrollY > 0",
  )
  assert.ok(page.url().endsWith('/services/shop/auto-deploys#deploy-key'))
})

test('an account says what to enter at its provider, and its secret on request', inBrowser, async (t) => {
  const { page, open, fake, hook, send, context, connection, storage, id, complaints } = await openShop(t)
  await open('/server/git-accounts')
  await press(page, 'Webhook')
  await seeText(page, 'No provider can reach this server')
  await press(page, 'Close', 'dialog')
  context.config.edge.dashboardHost = 'berth.example.com'
  await send('ping', '')
  await press(page, 'Webhook')
  await seeText(page, `https://berth.example.com/api/v1/hooks/github?connection=${connection}`)
  await seeText(page, 'Nothing to do: event ping.')
  assert.ok(await page.$(`dialog a[href="${fake.url}/ada/shop/settings/hooks/new"]`))
  assert.doesNotMatch(await textOf(page), /bthk_/)
  await press(page, 'Show secret', 'dialog')
  await seeText(page, hook.secret)
  await seeText(page, 'Events: Just the push event')
  await storage.services.update(id, (row) => ({ ...row, deploy_when: 'required_checks' }))
  await seeText(page, 'Events: Let me select individual events, with Pushes, Check suites, Statuses')
  assert.deepEqual(complaints, [])
})
