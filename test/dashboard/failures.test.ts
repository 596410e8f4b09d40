// The pages of deploys and job runs in a browser. One that failed says by itself in which phase, why, and
// what to do next.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'puppeteer-core'
import type { Deploy } from '../../src/api/deploy.ts'
import { until } from '../support/daemon/service.ts'
import { openSite } from '../support/dashboard/site.ts'
import { type StagedLine, stageDeploys } from '../support/dashboard/staged.ts'
import { lackOfBrowser, phone, textAt } from '../support/system/chromium.ts'

const inBrowser = { skip: (await lackOfBrowser()) ?? false }

interface Failure extends Pick<Deploy, 'error_code' | 'error_details'> {
  name: string
  error: string
  phase: string
  lines?: StagedLine[]
  /** What the page must contain, besides the phase and the reason. */
  shown: string[]
}

const output = (text: string): StagedLine => ({ text, stream: 'stdout' })

const failures: Failure[] = [
  {
    name: 'build-step',
    phase: 'building',
    error: 'RUN npm run build exited with code 1',
    error_code: 'build_failed',
    error_details: { step: 'RUN npm run build' },
    lines: [
      {
        text: '#5 [3/3] RUN npm run build',
        step: { number: 5, state: 'started', name: '[3/3] RUN npm run build' },
      },
      { text: '#5 1.2 src/cart.ts(12,3): error TS2304', stream: 'stderr', step: { number: 5 } },
      { text: '#5 ERROR: x', step: { number: 5, state: 'failed' } },
    ],
    shown: ['[3/3] RUN npm run build', 'src/cart.ts(12,3): error TS2304', 'berth deploy build-step'],
  },
  {
    name: 'no-dockerfile',
    phase: 'building',
    error: 'there is no Dockerfile in the source; it has app/Dockerfile',
    error_code: 'dockerfile_not_found',
    error_details: { dockerfile: 'app/Dockerfile' },
    shown: [
      'berth update no-dockerfile --root-dir app --dockerfile Dockerfile',
      'berth deploy no-dockerfile',
    ],
  },
  {
    name: 'no-image',
    phase: 'pulling',
    error: 'cannot pull ghcr.io/ada/web:v9: ghcr.io has no such image',
    error_code: 'image_not_found',
    error_details: null,
    shown: ['Check the name of the image', 'berth deploy no-image'],
  },
  {
    name: 'pre-deploy',
    phase: 'preparing',
    error: 'the pre-deploy command exited with code 3',
    error_code: 'pre_deploy_failed',
    error_details: null,
    lines: [output('migrating'), output('relation "orders" does not exist')],
    shown: ['relation "orders" does not exist', 'Fix the pre-deploy command', 'berth deploy pre-deploy'],
  },
  {
    name: 'exits',
    phase: 'checking',
    error: 'the instance exited with code 1 after 0.4s',
    error_code: 'instance_failed',
    error_details: null,
    lines: [output('Error: DATABASE_URL is not set')],
    shown: ['Error: DATABASE_URL is not set', 'Fix the error in its last lines'],
  },
  {
    name: 'unhealthy',
    phase: 'checking',
    error: 'GET /healthz returned 503 for 5m; expected 2xx or 3xx',
    error_code: 'health_check_failed',
    error_details: null,
    lines: [output('waiting for the cache')],
    shown: [
      'waiting for the cache',
      'It must return 2xx or 3xx',
      'berth update unhealthy --health-path PATH',
    ],
  },
  {
    name: 'wrong-port',
    phase: 'checking',
    error: 'connect to port 3000 → refused; the app listens on port 8080',
    error_code: 'health_check_failed',
    error_details: { reason: 'wrong_port', port: 8080 },
    shown: ['berth update wrong-port --port 8080', 'berth deploy wrong-port'],
  },
  {
    name: 'memory',
    phase: 'checking',
    error: 'the instance ran out of memory (512 MiB)',
    error_code: 'out_of_memory',
    error_details: null,
    shown: ['Raise the memory limit', 'berth update memory --memory 1024'],
  },
  {
    name: 'no-key',
    phase: 'fetching',
    error: 'cannot read git@git.test:ada/shop.git: Permission denied (publickey)',
    error_code: 'git_remote_unreachable',
    error_details: { reason: 'deploy_key' },
    shown: ['berth deploy-key no-key', 'Deploy key'],
  },
  {
    name: 'new-host',
    phase: 'fetching',
    error: 'cannot read git@git.test:ada/shop.git: the key of its host is another one',
    error_code: 'host_key_changed',
    error_details: null,
    shown: ['berth deploy-key new-host --forget-host', 'Deploy key'],
  },
]

test('for each failure, the page names the phase, the reason and the next step', inBrowser, async (t) => {
  const { page, open, stage } = await start(t)
  for (const { name, shown, ...failure } of failures) {
    const id = await stageFailure(stage, name, failure)

    await open(`/services/${name}/deploys/${id}`)
    await page.waitForSelector('section[aria-labelledby="why"] pre')
    const text = await textAt(page, 'section[aria-labelledby="why"]')

    const reason = failure.error.charAt(0).toUpperCase() + failure.error.slice(1)
    for (const part of [`Failed while ${failure.phase}`, reason, 'Next step:', 'Retry', ...shown])
      assert.ok(text.includes(part), `${name}: "${part}" is missing in ${text}`)
    const step = await textAt(page, 'li[data-state="failed"]')
    assert.match(step, new RegExp(failure.phase, 'i'))
  }
})

test(
  'what happens while the page is open is shown when it is stored, and a failure gets the focus',
  inBrowser,
  async (t) => {
    const { page, open, stage } = await start(t)
    await stage.create({ name: 'shop', repo_url: 'https://git.test/ada/shop' })
    const { id } = await stage.deploy('shop')
    const queued = { state: 'running.building', event: 'build.queued' }
    await stage.enter(id, [{ state: 'running.fetching' }, { state: 'running.building' }, queued])
    await stage.log(id, [{ text: 'waiting for a build slot: 1 build is running' }], false)
    await open(`/services/shop/deploys/${id}`)
    await page.waitForSelector('h1 ::-p-text(Waiting for a build slot)')
    await page.waitForSelector('li[aria-current="step"][data-state="waiting"] ::-p-text(Building)')
    await page.waitForSelector('::-p-text(Waiting for a build slot: 1 build is running.)')

    await stage.enter(id, [
      { state: 'failing', fields: { error: 'RUN make exited with code 2', error_code: 'build_failed' } },
    ])
    await page.waitForSelector('section[aria-labelledby="why"]:focus')
    await page.waitForSelector('li[data-off="failed"] ::-p-text(Cleaning up)')
    await stage.enter(id, [{ state: 'failed' }])
    await page.waitForSelector('li[data-off="failed"] li:last-child ::-p-text(Failed)')
    assert.match(await page.title(), /^■ Failed · shop/)
  },
)

test(
  'a moment of a deploy has an address: its strip and its log are as they were, and nothing can be done',
  inBrowser,
  async (t) => {
    const { page, open, stage, site } = await start(t)
    await stage.create({ name: 'shop', repo_url: 'https://git.test/ada/shop' })
    const { id } = await stage.deploy('shop')
    const lines = { 'cloned it': 28_500, 'make: *** error': 27_500 }
    for (const [line, agoMs] of Object.entries(lines))
      site.storage.logs.append(id, 'stdout', line, new Date(Date.now() - agoMs).toISOString())
    await site.storage.logs.end(id)
    const failed = { state: 'failing', fields: { error: 'make exited with code 2' } }
    const states = ['running.fetching', 'running.building'].map((state) => ({ state }))
    await stage.enter(id, [...states, failed, { state: 'failed' }])
    const path = `/services/shop/deploys/${id}`

    await open(`${path}?at=3`)
    await page.waitForSelector('h1 ::-p-text(Building)')
    await page.waitForSelector('section[aria-label="Replay"] ::-p-text(3 of 5)')
    assert.match(await textAt(page, 'li[aria-current="step"]'), /Building.*0\.0s/s)
    await page.locator('[role="log"] ::-p-text(Fetching)').click()
    await page.waitForSelector('[data-line="1"]')
    assert.equal(await page.$('[data-line="2"], main button ::-p-text(Retry), [aria-labelledby="why"]'), null)

    await page.locator('::-p-text(Back to now)').click()
    await page.waitForSelector('[aria-labelledby="why"]')
    await page.waitForSelector('[data-line="2"]')
    assert.ok(page.url().endsWith(path))

    await page.locator('ol a ::-p-text(Fetching)').click()
    await page.waitForSelector('h1 ::-p-text(Fetching)')
    await page.locator('[aria-label="One step on"]').click()
    await page.waitForSelector('h1 ::-p-text(Building)')
    assert.ok(page.url().endsWith('?at=3'))

    await open(`${path}?at=4#L2`)
    await page.waitForSelector('[data-line="2"][data-selected]')
  },
)

test('a screen reader hears a sentence every two seconds, and how it ended', inBrowser, async (t) => {
  const { page, open, stage } = await start(t)
  await stage.create({ name: 'shop', repo_url: 'https://git.test/ada/shop' })
  const { id } = await stage.deploy('shop')
  await open(`/services/shop/deploys/${id}`)
  await page.waitForSelector('h1 ::-p-text(Queued)')
  await page.evaluate(`(() => {
    const region = document.querySelector('ol[aria-label="Progress"] ~ [role="status"]')
    globalThis.spoken = [{ atMs: -1e9, text: region.textContent }]
    const hear = () => spoken.push({ atMs: performance.now(), text: region.textContent })
    new MutationObserver(hear).observe(region, { childList: true, characterData: true, subtree: true })
  })()`)
  const spoken = () => page.evaluate('spoken') as Promise<{ atMs: number; text: string }[]>

  await stage.enter(id, [{ state: 'running.fetching' }, { state: 'running.building' }])
  let lines = 0
  await until('two sentences', async () => {
    await stage.log(id, [{ text: `line ${++lines}` }], false)
    return (await spoken()).length > 2
  })
  await stage.enter(id, [{ state: 'running.starting' }, { state: 'running.checking' }, { state: 'live' }])
  await until('the end', async () => (await spoken()).at(-1)?.text === 'Live: Done')

  const heard = await spoken()
  for (const [index, { atMs, text }] of heard.entries()) {
    const gapMs = atMs - (heard[index - 1]?.atMs ?? -2e9)
    assert.ok(gapMs > 1_500, `"${text}" comes after ${gapMs} ms`)
  }
})

test('a deploy is canceled and another undone with keys alone', inBrowser, async (t) => {
  const { page, open, stage } = await start(t)
  const service = await stage.create({ name: 'shop', repo_url: 'https://git.test/ada/shop' })
  const one = await stage.live(service)
  const two = await stage.live(service)
  await stage.enter(one, [{ state: 'draining' }, { state: 'deactivated' }])
  const { id } = await stage.deploy('shop')
  await open(`/services/shop/deploys/${id}`)

  await tabTo(page, /^Cancel deploy/)
  await page.keyboard.press('Enter')
  await page.waitForSelector('::-p-text(Canceled by the administrator.)')
  await page.waitForSelector('h1:focus ::-p-text(Canceled)')

  await tabTo(page, /still|^…/)
  await page.keyboard.press('Enter')
  await page.waitForSelector('h1:focus ::-p-text(Live)')
  assert.ok(page.url().endsWith(two))
  const undo = /^Undo: roll back/
  await page.waitForSelector('button ::-p-text(Undo: roll back to)')
  for (const key of ['Escape', 'Enter'] as const) {
    await tabTo(page, undo)
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog button:focus ::-p-text(Cancel)')
    await page.keyboard.press(key)
    await page.waitForSelector('dialog', { hidden: true })
    assert.match(await focusedText(page), undo)
  }

  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog button ::-p-text(Roll back)')
  await tabTo(page, /^Roll back/)
  await page.keyboard.press('Enter')
  await page.waitForSelector('h1:focus ::-p-text(Queued)')
})

test('a deploy can be canceled with a thumb, and the page says who did', inBrowser, async (t) => {
  const { page, open, stage } = await start(t)
  await page.setViewport(phone)
  await stage.create({ name: 'shop', repo_url: 'https://git.test/ada/shop' })
  const { id } = await stage.deploy('shop')
  await open(`/services/shop/deploys/${id}`)

  await page.locator('button ::-p-text(Cancel deploy)').click()

  await page.waitForSelector('::-p-text(Canceled by the administrator.)')
  await page.waitForSelector('button ::-p-text(Retry)')
  const width = await page.$eval('html', (html) => html.scrollWidth)
  assert.ok(width <= phone.width, `${width} px wide`)
})

test('a rollback shows what it changes, and Enter does not do it', inBrowser, async (t) => {
  const { page, open, stage, site } = await start(t)
  const service = await stage.create({ name: 'shop', repo_url: 'https://git.test/ada/shop' })
  const setEnv = (value: string) =>
    site.call('PATCH', '/api/v1/services/shop/env', { body: { set: [{ key: 'SECRET', value }], unset: [] } })
  await setEnv('first-canary')
  const one = await stage.live(service, { commit_sha: '1'.repeat(40) })
  await setEnv('second-canary')
  const two = await stage.live(service, { commit_sha: '2'.repeat(40) })
  await stage.enter(one, [{ state: 'draining' }, { state: 'deactivated' }])
  await open(`/services/shop/deploys/${two}`)

  await page.locator('button ::-p-text(Undo: roll back to)').click()
  await page.waitForSelector('dialog ::-p-text(2222222 → 1111111)')
  await page.waitForSelector('dialog ::-p-text(SECRET)')
  assert.doesNotMatch(await page.content(), /canary/)
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog', { hidden: true })
  assert.ok(page.url().endsWith(two))

  await page.locator('button ::-p-text(Undo: roll back to)').click()
  await page.locator('dialog button ::-p-text(Roll back)').click()
  await page.waitForSelector('h1 ::-p-text(Queued)')
  await page.waitForSelector('::-p-text(rolled back)')
})

test('a job run that failed says so in the list, and explains itself on its page', inBrowser, async (t) => {
  const { page, open, stage } = await start(t)
  const service = await stage.create({ name: 'shop', repo_url: 'https://git.test/ada/shop' })
  const error = { exit_code: 3, error: 'exited with code 3', error_code: 'job_failed' as const }
  const states = ['pending', 'running.starting', 'running.following'].map((state) => ({ state }))
  const visits = [...states, { state: 'failing', fields: error }, { state: 'failed' }]
  const id = await stage.run(service, { command: 'rake db:seed', visits })
  await stage.log(id, [output('relation "users" does not exist')])
  await open('/services/shop/jobs')

  await page.locator('a ::-p-text(rake db:seed)').click()
  await page.waitForSelector('section[aria-labelledby="why"] pre')

  const text = await textAt(page, 'section[aria-labelledby="why"]')
  for (const part of ['Exited with code 3.', 'relation "users" does not exist', 'berth run shop -- COMMAND'])
    assert.ok(text.includes(part), `"${part}" is missing in ${text}`)
  await page.waitForSelector('li[data-state="failed"] ::-p-text(Running)')

  await open(`/services/shop/jobs/${id}?at=3`)
  await page.waitForSelector('h1 ::-p-text(Running)')
  assert.equal(await page.$('main button ::-p-text(Run again), [aria-labelledby="why"]'), null)
})

/** Where Tab leads. */
async function tabTo(page: Page, words: RegExp): Promise<void> {
  for (let count = 0; count < 100; count++) {
    if (words.test(await focusedText(page))) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`${words} is not in reach`)
}

function focusedText(page: Page): Promise<string> {
  return page.evaluate('document.activeElement.textContent') as Promise<string>
}

async function start(t: TestContext) {
  let said: string[] = []
  // Before the server stops, of which a page complains.
  t.after(() => assert.deepEqual(said, []))
  const site = await openSite(t)
  const { page, complaints } = await site.openPage()
  said = complaints
  const open = (path: string) => page.goto(`${site.url}${path}`)
  return { page, open, site, stage: stageDeploys(site) }
}

type Stage = ReturnType<typeof stageDeploys>

async function stageFailure(
  stage: Stage,
  name: string,
  failure: Omit<Failure, 'name' | 'shown'>,
): Promise<string> {
  const { lines = [], phase, ...fields } = failure
  const from =
    phase === 'pulling' ? { image: 'ghcr.io/ada/web:v9' } : { repo_url: 'https://git.test/ada/shop' }
  await stage.create({ name, ...from })
  const { id } = await stage.deploy(name)
  await stage.enter(id, [
    { state: `running.${phase}` },
    { state: 'failing', fields: { ...fields, finished_at: new Date().toISOString() } },
    { state: 'failed' },
  ])
  await stage.log(id, lines)
  return id
}
