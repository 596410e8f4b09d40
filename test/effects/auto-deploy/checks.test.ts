// Waiting for the checks of a head: what the provider shows decides, at each provider.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { ChecksLook, Look, Wait } from '../../../machines/auto-deploy.ts'
import { planOf } from '../../../src/domain/auto-deploys.ts'
import { autoDeployEffects } from '../../../src/effects/auto-deploy/auto-deploy.ts'
import type { AutoDeployPorts } from '../../../src/effects/auto-deploy/ports.ts'
import type { ProviderName } from '../../../src/git-providers/base-url.ts'
import { standIn } from '../../support/effects/stand-in.ts'
import { addStatus, type FakeCheck } from '../../support/git/git-provider/state.ts'
import { createGitProvider } from '../../support/git/git-provider.ts'
import { testHostRules } from '../../support/git/git-server.ts'
import { createRepository } from '../../support/git/repository.ts'
import { all, connectToken } from '../../support/http/git-connections.ts'
import { startApi } from '../../support/http/http-context.ts'
import { serviceRow } from '../../support/storage/store-fixtures.ts'
import { silentLogger } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const minutes = (count: number) => new Date(Date.now() - count * 60_000).toISOString()
const scopes = ['repo', 'read_api', 'read_repository', 'read:repository', 'read:user']

/** A service of ada/shop, whose head waits for its checks. */
async function openWait(t: TestContext, provider: ProviderName | null) {
  const root = temporaryDirectory(t)
  mkdirSync(join(root, 'ada'))
  const repository = createRepository(t, { root: join(root, 'ada'), name: 'shop.git' })
  const head = repository.commit('First', { 'README.md': 'one' })
  const [api, fake] = [await startApi(t), await createGitProvider(t, { root })]
  fake.state.publicRepositories.push('ada/shop.git', 'ada/shop')
  if (provider) await connectToken(api, provider, fake, fake.createToken('ada', { scopes }))
  const repo_url = `${fake.url}/ada/shop.git`
  const made = serviceRow({ repo_url, branch: 'main', auto_deploy: true, deploy_when: 'checks' })
  const service = await api.storage.services.create(made)
  const settings = {
    dataDir: temporaryDirectory(t),
    minFreeDiskMb: 0,
    localRepositories: [],
    gitHosts: testHostRules,
    deployLimits: { fetchMs: 10_000, buildMs: 1, startMs: 1 },
  }
  const { storage, context } = api
  const ports = { storage, actors: context.actors, logger: silentLogger, settings }
  const effects = autoDeployEffects(standIn<AutoDeployPorts>(ports))
  const wait = (waiting: Partial<Wait> = {}, reason = 'it waits for its checks', row = service) =>
    effects.awaitChecks(
      {
        id: 'aut-1',
        serviceId: service.id,
        plan: planOf(row)!,
        decision: { head, at: minutes(0), deployId: null, reason, tags: [], reliesOn: null },
        problem: null,
        failedAt: null,
        failures: 0,
        hasLooked: true,
        waiting: { head, since: minutes(2), outcome: 'pending', ...waiting },
      },
      t.signal,
    ) as Promise<ChecksLook & Look>
  return { api, fake, repository, head, service, wait }
}

/** In the words of GitHub and GitLab; Gitea has only statuses. */
function show(
  provider: ProviderName,
  { state }: Awaited<ReturnType<typeof createGitProvider>>,
  sha: string,
  name: string,
  outcome: 'pending' | 'success' | 'failed' | 'canceled',
): void {
  const conclusions = { pending: null, success: 'success', failed: 'failure', canceled: 'cancelled' }
  const status = { repository: 'ada/shop', sha, context: name, description: '', targetUrl: '' }
  if (provider === 'gitea') addStatus(state, { ...status, state: conclusions[outcome] ?? 'pending' })
  const runs = (state.checks.get(sha) ?? []).filter((one) => one.name !== name)
  const ended = outcome === 'pending' ? 'in_progress' : 'completed'
  const run: FakeCheck = {
    id: runs.length + 1,
    name,
    status: provider === 'github' ? ended : outcome,
    conclusion: conclusions[outcome],
  }
  state.checks.set(sha, [...runs, run])
}

for (const provider of all) {
  test(`${provider}: a head is deployed when all of its checks have passed, not before`, async (t) => {
    const { fake, head, wait } = await openWait(t, provider)
    show(provider, fake, head, 'lint', 'success')
    show(provider, fake, head, 'test', 'pending')
    let hasEnded = false
    const outcome = wait({ since: minutes(0.5) }).finally(() => {
      hasEnded = true
    })
    const asked = () => fake.requests.filter(({ path }) => path.includes(head)).length
    while (asked() < 2) await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(hasEnded, false)
    show(provider, fake, head, 'test', 'success')
    assert.deepEqual((await outcome).checks, { outcome: 'passed', reason: 'its checks passed' })
  })

  test(`${provider}: a failed check is named, and one that passes later counts`, async (t) => {
    const { fake, head, wait } = await openWait(t, provider)
    show(provider, fake, head, 'lint', 'success')
    show(provider, fake, head, 'test\u001b[2J', 'failed')
    const failed = { outcome: 'failed', reason: 'its check test [2J failed' } as const
    assert.deepEqual((await wait()).checks, failed)
    show(provider, fake, head, 'test\u001b[2J', 'pending')
    assert.deepEqual((await wait({ outcome: 'failed' }, failed.reason)).checks, { outcome: 'pending' })
    show(provider, fake, head, 'test\u001b[2J', 'success')
    const { checks } = await wait({ outcome: 'failed' }, failed.reason)
    assert.deepEqual(checks, { outcome: 'passed', reason: 'its checks passed' })
  })

  test(`${provider}: own reports do not count, and a commit without checks is deployed`, async (t) => {
    const { fake, head, wait } = await openWait(t, provider)
    const own = { repository: 'ada/shop', sha: head, context: 'berth/shop', state: 'pending' }
    addStatus(fake.state, { ...own, description: 'Queued', targetUrl: '' })
    assert.deepEqual((await wait()).checks, { outcome: 'passed', reason: 'it has no checks' })
  })

  test(`${provider}: checks that take too long are reported once, and still count later`, async (t) => {
    const { fake, head, wait } = await openWait(t, provider)
    show(provider, fake, head, 'test', 'pending')
    const late = { outcome: 'late', reason: 'its checks did not end within 2 hours' } as const
    assert.deepEqual((await wait({ since: minutes(121) })).checks, late)
    show(provider, fake, head, 'test', 'success')
    const { checks } = await wait({ since: minutes(200), outcome: 'late' }, late.reason)
    assert.deepEqual(checks, { outcome: 'passed', reason: 'its checks passed' })
  })
}

test('a commit without checks is not deployed if they are required, until some have passed', async (t) => {
  const { api, fake, head, service, wait } = await openWait(t, 'github')
  const required = { ...service, deploy_when: 'required_checks' as const }
  await api.storage.services.update(service.id, () => required)
  const none = { outcome: 'failed', reason: 'it has no checks' } as const
  assert.deepEqual((await wait({}, undefined, required)).checks, none)
  show('github', fake, head, 'test', 'pending')
  const begun = await wait({ outcome: 'failed' }, none.reason, required)
  assert.deepEqual(begun.checks, { outcome: 'pending' })
  show('github', fake, head, 'test', 'success')
  const { checks } = await wait({}, undefined, required)
  assert.deepEqual(checks, { outcome: 'passed', reason: 'its checks passed' })
})

test('a commit that was not deployed without checks is, once they are no longer required', async (t) => {
  const { wait } = await openWait(t, 'github')
  const { checks } = await wait({ outcome: 'failed' }, 'it has no checks')
  assert.deepEqual(checks, { outcome: 'passed', reason: 'it has no checks' })
})

test('a check that passes before the others show does not deploy the head', async (t) => {
  const { fake, head, wait } = await openWait(t, 'github')
  show('github', fake, head, 'lint', 'success')
  const outcome = wait({ since: minutes(0) })
  const isAsked = () => fake.requests.some(({ path }) => path.includes('/check-suites'))
  while (!isAsked()) await new Promise((resolve) => setTimeout(resolve, 20))
  await new Promise((resolve) => setTimeout(resolve, 100))
  show('github', fake, head, 'test', 'failed')
  assert.deepEqual((await outcome).checks, { outcome: 'failed', reason: 'its check test failed' })
})

test('a check on a later page counts', async (t) => {
  for (const provider of all) {
    const { fake, head, wait } = await openWait(t, provider)
    show(provider, fake, head, 'broken', 'failed')
    for (let at = 0; at < 60; at++) show(provider, fake, head, `test ${at}`, 'success')
    fake.state.checks.get(head)?.sort(({ name }) => (name === 'broken' ? 1 : -1))
    assert.deepEqual((await wait()).checks, { outcome: 'failed', reason: 'its check broken failed' })
  }
})

test('a canceled check is not a success', async (t) => {
  const { fake, head, wait } = await openWait(t, 'github')
  show('github', fake, head, 'test', 'canceled')
  assert.deepEqual((await wait()).checks, { outcome: 'failed', reason: 'its check test was canceled' })
})

test('a job that may fail does not hold back a pipeline of GitLab that succeeds', async (t) => {
  const { fake, head, wait } = await openWait(t, 'gitlab')
  const job = { conclusion: null, name: 'test', status: 'success' }
  const optional = { ...job, id: 2, name: 'audit', status: 'failed', isAllowedToFail: true }
  fake.state.checks.set(head, [{ ...job, id: 1 }, optional])
  assert.deepEqual((await wait()).checks, { outcome: 'passed', reason: 'its checks passed' })
})

test('a newer head ends the wait', async (t) => {
  const { fake, repository, head, wait } = await openWait(t, 'gitea')
  show('gitea', fake, head, 'test', 'pending')
  const newer = repository.commit('Two', { 'README.md': 'two' })
  assert.equal((await wait()).head, newer)
})

test('a suspended service ends the wait, and so does a removed one', async (t) => {
  const { api, fake, head, service, wait } = await openWait(t, 'gitea')
  show('gitea', fake, head, 'test', 'pending')
  const waiting = wait()
  await api.storage.services.update(service.id, (row) => ({ ...row, suspended: true }))
  const change = (await waiting) as unknown as { plan: { obstacle: string } }
  assert.equal(change.plan.obstacle, 'suspended')
})

test('a delivery looks at once, and is answered', async (t) => {
  const { api, fake, head, service, wait } = await openWait(t, 'gitea')
  show('gitea', fake, head, 'test', 'pending')
  void wait().catch(() => undefined)
  const isAsked = () => fake.requests.some(({ path }) => path.includes(`${head}/status`))
  while (!isAsked()) await new Promise((resolve) => setTimeout(resolve, 20))
  const id = api.storage.ids.newId('dlv')
  const about = { id, provider: 'gitea' as const, connection_id: 'git-1', delivery_id: 'd-1', event: 'push' }
  const push = { repository: 'git.test/ada/shop', ref: 'refs/heads/main', before: null, after: head }
  const rest = { received_at: minutes(0), refusal: null, decisions: { [service.id]: null } }
  await api.storage.hookDeliveries.keep({ ...about, ...push, ...rest })
  const open = () => api.storage.hookDeliveries.openOf(service.id)
  while (open().length > 0) await new Promise((resolve) => setTimeout(resolve, 20))
  const [delivery] = api.storage.hookDeliveries.ofService(service.id, 1)
  assert.equal(delivery!.decisions[service.id]!.reason, 'it waits for its checks')
})

test('without a connection, or with one that may not read them, the reason is a problem', async (t) => {
  const { problem } = await (await openWait(t, null)).wait()
  assert.match(problem!.message, /^its checks cannot be read: no git connection reads http/)
  assert.equal(problem!.code, 'git_authorization_rejected')
  const { fake, wait } = await openWait(t, 'github')
  for (const token of fake.state.tokens.values()) token.scopes = ['public_repo']
  const refused = await wait()
  assert.match(refused.problem!.message, /^its checks cannot be read: GitHub at .* responded with 403: /)
})
