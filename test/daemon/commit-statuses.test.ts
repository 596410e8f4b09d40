// Deploys that are reported to the git provider, as it shows them, also across a kill of the daemon.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runBerth } from '../support/cli/berth.ts'
import { startDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { finishedDeploy, pageApp, until } from '../support/daemon/service.ts'
import { addStatus } from '../support/git/git-provider/state.ts'
import { createGitProvider, type FakeProvider } from '../support/git/git-provider.ts'
import { createRepository } from '../support/git/repository.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const scopes = ['read:user', 'write:repository']

/** A provider with the repository ada/shop, and a daemon that its account is connected to. */
async function openShop(
  t: TestContext,
  { dockerfile = '', args = [] as string[], tokenScopes = scopes } = {},
) {
  const root = temporaryDirectory(t)
  mkdirSync(join(root, 'ada'))
  const repository = createRepository(t, { root: join(root, 'ada'), name: 'shop.git' })
  const first = repository.commit('First', await pageApp('one', dockerfile))
  const provider = await createGitProvider(t, { root })
  const daemon = await startDaemon(t, { args: ['--settle-time=0', ...args] })
  const token = provider.createToken('ada', { scopes: ['read:repository', ...tokenScopes] })
  const account = { provider: 'gitea', base_url: provider.url, token }
  const connection = await daemon.api.post('/git/connections', account)
  const settings = {
    name: 'shop',
    repo_url: `${provider.url}/ada/shop.git`,
    branch: 'main',
    drain_seconds: 0,
  }
  return { repository, first, provider, daemon, connection, settings }
}

const statesOf = ({ state: { statuses } }: FakeProvider, sha: string) =>
  statuses.filter((one) => one.sha === sha).map(({ state }) => state)

async function logOf({ api }: TestDaemon, deployId: string): Promise<string[]> {
  const lines: string[] = []
  for await (const { event, data } of api.events(`/deploys/${deployId}/logs`))
    if (event === 'log') lines.push(JSON.parse(data).line)
  return lines
}

test('a push is pending until it serves, and a deploy that fails says where and why', async (t) => {
  const args = ['--dashboard-host=berth.example.com']
  const { repository, first, provider, daemon, settings } = await openShop(t, { args })
  const { api } = daemon
  const { latest_deploy } = await api.post('/services', settings)
  assert.equal((await finishedDeploy(api, latest_deploy.id)).status, 'live')
  assert.deepEqual(statesOf(provider, first), [], 'nothing is reported before it is turned on')
  await runBerth(t, ['git', 'update', 'ada', '--report-deploys', 'on'], { daemon })

  const head = repository.commit('Two', { 'www/index.html': 'two' })
  await api.call('PATCH', '/services/shop', { poll_seconds: 1000 })
  await until('the pending status', async () => statesOf(provider, head)[0] === 'pending')
  const { decision } = (await api.get('/services/shop')).auto_deploys
  const deploy = await finishedDeploy(api, decision.deploy_id)
  await until('the success', async () => statesOf(provider, head).at(-1) === 'success')
  assert.deepEqual([deploy.status, statesOf(provider, head)], ['live', ['pending', 'success']])
  const { context, description, targetUrl } = provider.state.statuses.at(-1)!
  assert.deepEqual([context, description], ['berth/shop', 'Live'])
  assert.equal(targetUrl, `https://berth.example.com/services/shop/deploys/${deploy.id}`)

  const broken = repository.commit('Three', { Dockerfile: 'FROM scratch\nCOPY missing /missing\n' })
  await api.call('PATCH', '/services/shop', { poll_seconds: 1001 })
  await until('the failure', async () => statesOf(provider, broken).at(-1) === 'failure')
  assert.match(provider.state.statuses.at(-1)!.description, /^Failed while building: .{1,118}$/)
  const restart = await api.post('/services/shop/restart')
  assert.equal((await finishedDeploy(api, restart.id)).status, 'live')
  assert.deepEqual(statesOf(provider, head), ['pending', 'success'], 'a restart says nothing about a commit')
})

test('a daemon that is killed during a deploy still reports how it ended', async (t) => {
  const { first, provider, daemon, connection, settings } = await openShop(t, { dockerfile: 'RUN sleep 4' })
  await daemon.api.call('PATCH', `/git/connections/${connection.id}`, { report_deploys: true })
  const { latest_deploy } = await daemon.api.post('/services', settings)
  await until('the pending status', async () => statesOf(provider, first)[0] === 'pending')
  await daemon.kill()
  assert.deepEqual(statesOf(provider, first), ['pending'])
  await daemon.start()

  assert.equal((await finishedDeploy(daemon.api, latest_deploy.id)).status, 'live')
  await until('the success', async () => statesOf(provider, first).at(-1) === 'success')
  const states = statesOf(provider, first)
  // The kill may come between the answer of the provider and the commit.
  assert.ok(states.length <= 3)
  assert.deepEqual([...new Set(states)], ['pending', 'success'])
  const status = latest_deploy.id.replace('dep-', 'sta-')
  await until('the end', async () => (await daemon.api.get(`/actors/${status}`)).status === 'delivered')
})

test('a report that the provider refuses is a warning of the deploy, not a failure', async (t) => {
  const { first, provider, daemon, settings } = await openShop(t, { tokenScopes: ['read:user'] })
  const { api } = daemon
  await runBerth(t, ['git', 'update', '--report-deploys', 'on'], { daemon })
  const { latest_deploy } = await api.post('/services', settings)
  const deploy = await finishedDeploy(api, latest_deploy.id)
  assert.equal(deploy.status, 'live')
  assert.deepEqual(statesOf(provider, first), [])
  const warnings = (await logOf(daemon, deploy.id)).filter((line) => line.includes('is not reported'))
  assert.equal(warnings.length, 1)
  assert.match(warnings[0]!, /responded with 403: token does not have at least one of required scope/)
  const id = deploy.id.replace('dep-', 'sta-')
  await until('the end', async () => (await api.get(`/actors/${id}`)).status === 'failed')
  const last = (await api.get(`/actors/${id}/history`)).at(-1)
  assert.match(last.phase, /^success was refused: Gitea at .* responded with 403/)
})

test('a push waits for its checks, and is deployed when they have passed', async (t) => {
  const { repository, first, provider, daemon, settings } = await openShop(t)
  const { latest_deploy } = await daemon.api.post('/services', settings)
  await finishedDeploy(daemon.api, latest_deploy.id)
  const berth = (...args: string[]) => runBerth(t, args, { daemon })
  await berth('update', 'shop', '--deploy-when', 'checks')
  const head = repository.commit('Two', { 'www/index.html': 'two' })
  const ci = { repository: 'ada/shop', sha: head, context: 'ci/test', description: '', targetUrl: '' }
  addStatus(provider.state, { ...ci, state: 'pending' })
  const look = (poll_seconds: number) => daemon.api.call('PATCH', '/services/shop', { poll_seconds })
  await look(1000)
  const read = async () => (await daemon.api.get('/services/shop')).auto_deploys
  await until('the wait', async () => (await read()).status === 'waiting')
  assert.deepEqual((await read()).decision.reason, 'it waits for its checks')
  const shown = (await berth('show', 'shop')).stdout
  assert.match(shown, /^auto deploy +waiting: it waits for its checks$/m)
  assert.match(shown, /^deploy when +the checks of a push have passed$/m)

  await daemon.kill()
  addStatus(provider.state, { ...ci, state: 'failure' })
  await daemon.start()
  await until('the failure', async () => (await read()).decision?.reason === 'its check ci/test failed')
  assert.equal((await daemon.api.get('/services/shop/deploys')).length, 1)

  // The checks run again and pass; a change of the service looks at them at once.
  addStatus(provider.state, { ...ci, state: 'success' })
  await look(1001)
  const { deploy_id, reason } = await until('the decision', async () => {
    const { decision } = await read()
    return decision?.deploy_id && decision
  })
  const deploy = await finishedDeploy(daemon.api, deploy_id)
  assert.deepEqual([deploy.status, deploy.commit_sha, reason], ['live', head, 'its checks passed'])
  assert.notEqual(head, first)
})
