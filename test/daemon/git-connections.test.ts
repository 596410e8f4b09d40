// Private repositories that are cloned with a git connection, and connections across a kill of the daemon.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Api, Body } from '../support/daemon/api.ts'
import { startDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { finishedDeploy, until } from '../support/daemon/service.ts'
import { createGitProvider, type FakeProviderOptions, type FakeRequest } from '../support/git/git-provider.ts'
import { createRepository } from '../support/git/repository.ts'
import { filesWith } from '../support/storage/canary.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import { long } from '../support/system/drill-size.ts'

const redirect_uri = 'https://berth.example.com/git/callback'

/**
 * A provider with a private repository, by default ada/shop, which has no Dockerfile: its deploys end
 * after the fetch.
 */
async function privateRepository(
  t: TestContext,
  { owner = 'ada', override }: Pick<FakeProviderOptions, 'override'> & { owner?: string } = {},
) {
  const root = temporaryDirectory(t)
  mkdirSync(join(root, owner))
  const repository = createRepository(t, { root: join(root, owner), name: 'shop.git' })
  repository.commit('First', { 'README.md': 'the shop' })
  repository.branch('next')
  const provider = await createGitProvider(t, { root, ...(override && { override }) })
  return { repository, provider, repoUrl: `${provider.url}/${owner}/shop.git` }
}

async function deploy(api: Api, repoUrl: string, name = 'shop'): Promise<{ deploy: Body; log: string }> {
  const known = await api.call('GET', `/services/${name}`)
  if (known.status === 404) {
    await api.post('/services', { name, type: 'private_service', repo_url: repoUrl, deploy: false })
  }
  const { id } = await api.post(`/services/${name}/deploys`)
  const finished = await finishedDeploy(api, id)
  const lines: string[] = []
  for await (const { event, data } of api.events(`/deploys/${id}/logs`)) {
    if (event === 'log') lines.push(JSON.parse(data).line)
  }
  return { deploy: finished, log: lines.join('\n') }
}

async function connect({ api }: TestDaemon, provider: string, url: string, token: string): Promise<Body> {
  return api.post('/git/connections', { provider, base_url: url, token })
}

test('a private repository is cloned with its connection, and the token leaks nowhere', async (t) => {
  const { provider, repoUrl, repository } = await privateRepository(t)
  const daemon = await startDaemon(t)
  const { api } = daemon
  const refused = await deploy(api, repoUrl)
  assert.equal(refused.deploy.status, 'failed')
  assert.equal(refused.deploy.error_code, 'git_remote_unreachable', refused.log)
  const token = provider.createToken('ada')
  const connection = await connect(daemon, 'gitlab', provider.url, token)

  const { deploy: deployed, log } = await deploy(api, repoUrl)

  assert.match(log, /reading the repository with the GitLab connection of ada/)
  assert.equal(deployed.commit_sha, repository.git('rev-parse', 'HEAD'), log)
  assert.deepEqual((await api.get(`/git/connections/${connection.id}`)).services, ['shop'])
  const query = new URLSearchParams({ repo_url: repoUrl })
  assert.deepEqual(await api.get(`/git/branches?${query}`), {
    branches: ['main', 'next'],
    connection_id: connection.id,
    default_branch: 'main',
  })
  for (const path of [
    '/git/connections',
    `/git/connections/${connection.id}/history`,
    '/services',
    '/deploys',
  ])
    assert.doesNotMatch(JSON.stringify(await api.get(path)), new RegExp(token))
  assert.deepEqual(filesWith(daemon.dataDir, token), [])
  assert.doesNotMatch(daemon.log.join('\n') + log, new RegExp(token))

  provider.revoke(token)
  const after = await deploy(api, repoUrl)
  assert.equal(after.deploy.status, 'failed')
  assert.match(after.deploy.error, /refused the user name or the password; the GitLab connection of ada/)
  const revoked = await api.get(`/git/connections/${connection.id}`)
  assert.deepEqual([revoked.status, revoked.invalid_reason], ['invalid', 'revoked'])
  const branches = await api.call('GET', `/git/branches?${query}`)
  assert.equal(branches.status, 502)
  assert.equal(branches.body.code, 'git_remote_unreachable')
  const because = /; the GitLab connection of ada supplied no token: .*: the provider rejected its token$/
  assert.match(branches.body.detail, because)
  assert.match((await deploy(api, repoUrl)).deploy.error, because)
  await api.call('PATCH', '/services/shop', { poll_seconds: 1000 })
  const { reason } = await until('the failed look', async () => {
    const { auto_deploys } = await api.get('/services/shop')
    return auto_deploys.status === 'failing' && auto_deploys
  })
  assert.match(reason, because)
})

test('of several accounts, one that may read the repository of a group reads it', async (t) => {
  const { provider, repository } = await privateRepository(t, { owner: 'acme' })
  const daemon = await startDaemon(t)
  const { api } = daemon
  const member = provider.createToken('bob', { groups: ['acme'] })
  const bob = await connect(daemon, 'gitea', provider.url, member)
  const ada = await connect(daemon, 'gitea', provider.url, provider.createToken('ada'))
  for (const [name, repoUrl] of [
    ['https', `${provider.url}/acme/shop.git`],
    ['again', `${provider.url}/acme/shop`],
  ] as const) {
    const { deploy: deployed, log } = await deploy(api, repoUrl, name)
    assert.match(log, /reading the repository with the Gitea connection of bob/)
    assert.equal(deployed.commit_sha, repository.git('rev-parse', 'HEAD'), log)
  }
  const services = async ({ id }: Body) => (await api.get(`/git/connections/${id}`)).services
  assert.deepEqual([await services(bob), await services(ada)], [['again', 'https'], []])
  assert.equal((await api.call('DELETE', `/git/connections/${bob.id}`)).status, 409)
})

test('a token that ends while git uses it is renewed, and the deploy goes on', async (t) => {
  let former: string[] = []
  const { provider, repoUrl, repository } = await privateRepository(t, {
    override({ path }) {
      // After the references were listed, before the commits are sent.
      if (path.endsWith('/git-upload-pack')) for (const token of former) provider.revoke(token)
      return null
    },
  })
  const daemon = await startDaemon(t)
  const { api } = daemon
  const application = { client_id: 'client', client_secret: 'the client secret' }
  const request = { provider: 'gitlab', base_url: provider.url, redirect_uri }
  const started = await api.post('/git/authorize', { ...request, ...application })
  await api.post('/git/callback', provider.approve(started.url, 'ada'))
  former = [...provider.state.tokens.keys()]

  const { deploy: deployed, log } = await deploy(api, repoUrl)

  assert.equal(deployed.commit_sha, repository.git('rev-parse', 'HEAD'), log)
  const [connection] = await api.get('/git/connections')
  assert.equal(connection.status, 'connected')
})

test('after a forced removal of its connection, a service uses no other until allowed', async (t) => {
  const { provider, repoUrl, repository } = await privateRepository(t)
  const daemon = await startDaemon(t)
  const { api } = daemon
  const removed = await connect(daemon, 'gitlab', provider.url, provider.createToken('ada'))
  await api.post('/services', { name: 'shop', repo_url: repoUrl, auto_deploy: false, deploy: false })
  const head = repository.git('rev-parse', 'HEAD')
  assert.equal((await deploy(api, repoUrl)).deploy.commit_sha, head)
  // She may read the repository too.
  await connect(daemon, 'gitlab', provider.url, provider.createToken('grace', { groups: ['ada'] }))
  await api.call('DELETE', `/git/connections/${removed.id}?force=true`)
  const seen = provider.requests.length

  const refused = await deploy(api, repoUrl)

  assert.equal(refused.deploy.error_code, 'git_remote_unreachable', refused.log)
  assert.match(refused.log, /read without a git connection, .*; berth update shop --git-connection on/)
  const sent = provider.requests.slice(seen).filter(({ path }) => path.includes('.git/'))
  assert.deepEqual([...new Set(sent.map(({ authorization }) => authorization))], [''])

  await api.patch('/services/shop', { use_git_connection: true })
  const { deploy: deployed, log } = await deploy(api, repoUrl)
  assert.match(log, /reading the repository with the GitLab connection of grace/)
  assert.equal(deployed.commit_sha, head)
})

test('a kill while branches are listed leaves nothing in the temporary folder', async (t) => {
  const { provider, repoUrl } = await privateRepository(t, {
    override: ({ path }) => (path.includes('.git/') ? 'hang' : null),
  })
  const TMPDIR = temporaryDirectory(t)
  const daemon = await startDaemon(t, { env: { TMPDIR } })
  const before = readdirSync(TMPDIR)
  const query = new URLSearchParams({ repo_url: repoUrl })
  const listing = daemon.api.call('GET', `/git/branches?${query}`).catch(() => null)
  while (provider.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  await daemon.kill()
  await listing
  assert.deepEqual(readdirSync(TMPDIR), before)
})

long('a refresh token that a killed daemon may have sent is sent once more', async (t) => {
  let isHeld = false
  const isRenewal = ({ path, body }: FakeRequest) =>
    path.startsWith('/oauth/token') && body.includes('grant_type=refresh_token')
  for (const reached of [false, true]) {
    // The provider gets the request, and renews or not; its answer is lost either way.
    const provider = await createGitProvider(t, {
      override: (request) => (isHeld && !reached && isRenewal(request) ? 'hang' : null),
    })
    provider.state.answersLost = (request) => isHeld && reached && isRenewal(request)
    const daemon = await startDaemon(t)
    const application = { client_id: 'client', client_secret: 'the client secret' }
    const request = { provider: 'gitlab', base_url: provider.url, redirect_uri }
    const started = await daemon.api.post('/git/authorize', { ...request, ...application })
    const { connection } = await daemon.api.post('/git/callback', provider.approve(started.url, 'ada'))
    for (const token of provider.state.tokens.keys()) provider.revoke(token)
    isHeld = true
    const sent = () => provider.requests.filter(isRenewal).length
    const listing = daemon.api.call('GET', `/git/connections/${connection.id}/repositories`).catch(() => null)
    while (sent() === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    await daemon.kill()
    await listing
    isHeld = false
    await daemon.start()

    const after = await daemon.api.call('GET', `/git/connections/${connection.id}/repositories`)
    assert.equal(after.status, reached ? 409 : 200)
    assert.equal(sent(), 2)
  }
})

test('a connection and an authorization in the browser survive a kill of the daemon', async (t) => {
  const { provider } = await privateRepository(t)
  const daemon = await startDaemon(t)
  const kept = await connect(daemon, 'gitea', provider.url, provider.createToken('grace'))
  const started = await daemon.api.post('/git/authorize', {
    provider: 'github',
    base_url: provider.url,
    redirect_uri,
  })
  await daemon.kill()
  await daemon.start()
  const { api } = daemon
  assert.equal((await api.get(`/git/connections/${kept.id}`)).status, 'connected')
  assert.equal((await api.get(`/git/connections/${kept.id}/repositories`)).truncated, false)
  const code = provider.registerApp(started.fields.manifest, 'ada')
  const state = new URL(started.url).searchParams.get('state')

  const registered = await api.post('/git/callback', { code, state })
  await daemon.kill()
  await daemon.start()

  const again = await daemon.api.call('POST', '/git/callback', { code, state })
  assert.equal(again.status, 400, 'the state works once')
  const next = new URL(registered.url).searchParams.get('state')
  const installation_id = provider.installApp(JSON.parse(started.fields.manifest).name, 'ada')
  const installed = await daemon.api.post('/git/callback', { state: next, installation_id })
  assert.equal(installed.status, 'connected')
  assert.equal(installed.connection.id, started.connection.id)
  await daemon.api.get(`/git/connections/${installed.connection.id}/repositories`)
})

long('a code that was sent when the daemon was killed is never sent again', async (t) => {
  let isHeld = true
  const provider = await createGitProvider(t, {
    override: ({ path }) => (path.startsWith('/oauth/token') && isHeld ? 'hang' : null),
  })
  const daemon = await startDaemon(t)
  const application = { client_id: 'client', client_secret: 'the client secret' }
  const request = { provider: 'gitlab', base_url: provider.url, redirect_uri }
  const started = await daemon.api.post('/git/authorize', { ...request, ...application })
  const pending = daemon.api
    .call('POST', '/git/callback', provider.approve(started.url, 'ada'))
    .catch(() => null)
  const sent = () => provider.requests.filter(({ path }) => path.startsWith('/oauth/token')).length
  while (sent() === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  await daemon.kill()
  await pending
  isHeld = false
  await daemon.start()

  const { api } = daemon
  const path = `/git/connections/${started.connection.id}`
  while ((await api.get(path)).phase === 'exchanging') await new Promise((resolve) => setTimeout(resolve, 20))
  const connection = await api.get(path)
  assert.deepEqual([connection.status, connection.error], ['pending', 'the authorization was interrupted'])
  assert.equal(sent(), 1)
  const resumed = await api.post('/git/authorize', { connection_id: connection.id, redirect_uri })
  const done = await api.post('/git/callback', provider.approve(resumed.url, 'ada'))
  assert.deepEqual([done.status, done.connection.id], ['connected', connection.id])
})

long('a registration that a kill interrupted says what may be left at GitHub', async (t) => {
  const provider = await createGitProvider(t, {
    override: ({ path }) => (path.endsWith('/conversions') ? 'hang' : null),
  })
  const daemon = await startDaemon(t)
  const request = { provider: 'github', base_url: provider.url, redirect_uri }
  const started = await daemon.api.post('/git/authorize', request)
  const code = provider.registerApp(started.fields.manifest, 'ada')
  const state = new URL(started.url).searchParams.get('state')
  const pending = daemon.api.call('POST', '/git/callback', { code, state }).catch(() => null)
  const isSent = () => provider.requests.some(({ path }) => path.endsWith('/conversions'))
  while (!isSent()) await new Promise((resolve) => setTimeout(resolve, 20))
  await daemon.kill()
  await pending
  await daemon.start()

  const path = `/git/connections/${started.connection.id}`
  while ((await daemon.api.get(path)).phase === 'exchanging')
    await new Promise((resolve) => setTimeout(resolve, 20))
  const connection = await daemon.api.get(path)
  assert.equal(connection.phase, 'registering')
  assert.match(connection.error, /GitHub may have registered an app that nothing uses: delete it/)
})
