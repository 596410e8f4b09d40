// Git connections with an app of GitHub: its registration, its installation and its tokens.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { GitConnectionPorts } from '../../../src/effects/git-connection/ports.ts'
import { askAboutRepository } from '../../../src/effects/git-connection/repository-requests.ts'
import { RetryLater } from '../../../src/errors.ts'
import { createGitProvider } from '../../support/git/git-provider.ts'
import { testHostRules } from '../../support/git/git-server.ts'
import { createRepository } from '../../support/git/repository.ts'
import {
  application,
  authorize,
  callback,
  connectApp,
  connectionOf,
  connectToken,
  git,
  redirectUri,
  registerApp,
} from '../../support/http/git-connections.ts'
import { startApi } from '../../support/http/http-context.ts'
import { eventually } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

test('an app is registered, installed and connected, and its tokens are created on demand', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const started = await authorize(api, { provider: 'github', base_url: fake.url })
  assert.equal(started.body.status, 'redirect')
  assert.equal(started.body.method, 'post')
  assert.match(started.body.url as string, new RegExp(`^${fake.url}/settings/apps/new\\?state=[\\w-]{43}$`))
  assert.equal(connectionOf(started).status, 'pending')
  assert.equal(connectionOf(started).phase, 'registering')
  const { code, state, manifest } = registerApp(fake, started)
  assert.match(manifest.name, /^berth-berth-example-com-[0-9a-f]{6}$/)
  assert.deepEqual(manifest.default_permissions, { contents: 'read', metadata: 'read' })
  assert.equal(manifest.redirect_url, redirectUri)
  const hook = `https://berth.example.com/api/v1/hooks/github?connection=${connectionOf(started).id}`
  assert.deepEqual(manifest.hook_attributes, { url: hook, active: true })
  assert.deepEqual(manifest.default_events, ['push'])

  const registered = await callback(api, { code, state })

  assert.equal(registered.body.status, 'redirect')
  assert.equal(registered.body.method, 'get')
  assert.match(registered.body.url as string, /\/github-apps\/berth-.*\/installations\/new\?state=/)
  assert.equal(connectionOf(registered).phase, 'installing')
  const installationId = fake.installApp(manifest.name, 'ada')
  const next = new URL(registered.body.url as string).searchParams.get('state')
  const installed = await callback(api, {
    state: next,
    installation_id: installationId,
    setup_action: 'install',
  })
  assert.deepEqual(
    { ...installed.body, connection: null },
    { status: 'connected', method: null, url: null, fields: {}, connection: null },
  )
  const connection = connectionOf(installed)
  assert.equal(connection.auth, 'github_app')
  assert.deepEqual(connection.scopes, ['contents:read', 'metadata:read'])
  assert.equal(connection.account, 'ada')
  assert.equal(connection.app_slug, manifest.name)
  assert.equal(connection.repository_selection, 'selected')
  assert.equal(connection.manage_url, `${fake.url}/settings/installations/${installationId}`)

  const listed = await api.call('GET', `${git}/connections/${connection.id}/repositories`)
  assert.equal(listed.status, 200)
  assert.equal((listed.body.repositories as { name: string }[])[0]!.name, 'repo-0')
})

test('the app of an organization is registered on its page', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const started = await authorize(api, { provider: 'github', base_url: fake.url, organization: 'acme' })
  assert.match(started.body.url as string, /\/organizations\/acme\/settings\/apps\/new\?state=/)
  for (const organization of ['-acme', 'acme-', 'a/b', 'a'.repeat(40)]) {
    const refused = await authorize(api, { provider: 'github', base_url: fake.url, organization })
    assert.equal(refused.status, 400, organization)
    assert.equal(refused.body.code, 'invalid_request')
  }
})

test('a state works once, and neither a state nor a code is accepted again', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const started = await authorize(api, { provider: 'github', base_url: fake.url })
  const { code, state } = registerApp(fake, started)
  assert.equal((await callback(api, { code, state })).status, 200)

  for (const body of [{ code, state }, { code, state: 'unknown' }, { code, state: '' }, {}]) {
    const repeated = await callback(api, body)
    assert.equal(repeated.status, 400)
    assert.equal(repeated.body.code, 'invalid_request')
  }
  assert.equal(fake.requests.filter(({ path }) => path.includes('conversions')).length, 1)
})

test('a pending app is resumed at its next step, or connected if it is installed', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const started = await authorize(api, { provider: 'github', base_url: fake.url })
  const { id } = connectionOf(started)
  const again = await authorize(api, { connection_id: id })
  assert.match(again.body.url as string, /settings\/apps\/new/)
  const { code, state, manifest } = registerApp(fake, again)
  await callback(api, { code, state })

  const resumed = await authorize(api, { connection_id: id })
  assert.match(resumed.body.url as string, /installations\/new\?state=/)
  fake.installApp(manifest.name, 'ada')
  const done = await authorize(api, { connection_id: id })

  assert.equal(done.body.status, 'connected')
  assert.equal(connectionOf(done).id, id)
  assert.equal((await authorize(api, { connection_id: id })).body.status, 'connected')
})

test('a removed or suspended installation makes the connection invalid until it is back', async (t) => {
  for (const [reason, message] of [
    ['uninstalled', /no longer installed|Not Found/],
    ['suspended', /suspended/],
  ] as const) {
    const [api, fake] = [await startApi(t), await createGitProvider(t)]
    const { id, manifest, installationId } = await connectApp(api, fake)
    const app = fake.app(manifest.name)
    const [installation] = app.installations
    if (reason === 'suspended') installation!.isSuspended = true
    else app.installations = []

    const listed = await api.call('GET', `${git}/connections/${id}/repositories`)

    assert.equal(listed.status, 409)
    assert.match(listed.body.detail as string, message)
    const connection = await api.call('GET', `${git}/connections/${id}`)
    assert.equal(connection.body.invalid_reason, reason)
    installation!.isSuspended = false
    app.installations = [installation!]
    const reread = await callback(api, { installation_id: installationId, setup_action: 'update' })
    assert.equal(reread.body.status, 'connected')
    assert.equal((await api.call('GET', `${git}/connections/${id}/repositories`)).status, 200)
  }
})

test('an installation of another app is refused', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const started = await authorize(api, { provider: 'github', base_url: fake.url })
  const { code, state } = registerApp(fake, started)
  const registered = await callback(api, { code, state })
  const next = new URL(registered.body.url as string).searchParams.get('state')
  const foreign = await callback(api, { state: next, installation_id: 999 })
  assert.equal(foreign.status, 400)
  assert.equal(foreign.body.code, 'git_authorization_rejected')
  const unknown = await callback(api, { installation_id: 999 })
  assert.equal(unknown.status, 400)
  assert.equal(unknown.body.code, 'invalid_request')
})

test('an app whose tokens GitHub revoked gets new ones, unless it was uninstalled', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const { id, manifest } = await connectApp(api, fake)
  const path = `${git}/connections/${id}`
  const revokeAll = () => {
    for (const token of fake.state.tokens.keys()) fake.revoke(token)
  }
  assert.equal((await api.call('GET', `${path}/repositories`)).status, 200)

  revokeAll()
  assert.equal((await api.call('GET', `${path}/repositories`)).status, 200)

  revokeAll()
  fake.app(manifest.name).installations = []
  assert.equal((await api.call('GET', `${path}/repositories`)).status, 409)
  assert.equal((await api.call('GET', path)).body.invalid_reason, 'uninstalled')
})

test('an installation that an owner approves later completes the pending connection', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const started = await authorize(api, { provider: 'github', base_url: fake.url })
  const { code, state, manifest } = registerApp(fake, started)
  const registered = await callback(api, { code, state })
  const next = new URL(registered.body.url as string).searchParams.get('state')
  const requested = await callback(api, { state: next, setup_action: 'request' })
  assert.deepEqual([requested.status, requested.body.code], [400, 'git_authorization_rejected'])
  assert.match(requested.body.detail as string, /owner of the organization/)

  const installation_id = fake.installApp(manifest.name, 'ada')
  const approved = await callback(api, { installation_id, setup_action: 'install' })

  assert.equal(approved.body.status, 'connected')
  assert.equal(connectionOf(approved).id, connectionOf(started).id)
})

for (const provider of ['gitlab', 'gitea'] as const) {
  test(`an OAuth application connects an account of ${provider}`, async (t) => {
    const [api, fake] = [await startApi(t), await createGitProvider(t)]
    const missing = await authorize(api, { provider, base_url: fake.url })
    assert.equal(missing.status, 400)
    assert.equal(missing.body.code, 'git_application_required')
    const half = await authorize(api, { provider, base_url: fake.url, client_id: 'client' })
    assert.equal(half.body.code, 'invalid_request')

    const started = await authorize(api, { provider, base_url: fake.url, ...application })

    assert.equal(started.body.method, 'get')
    const page = new URL(started.body.url as string)
    assert.equal(page.searchParams.get('redirect_uri'), redirectUri)
    assert.equal(page.searchParams.get('response_type'), 'code')
    if (provider === 'gitlab') assert.equal(page.searchParams.get('scope'), 'read_api read_repository')
    const done = await callback(api, fake.approve(page.href, 'ada'))
    assert.equal(done.body.status, 'connected')
    const connection = connectionOf(done)
    assert.equal(connection.id, connectionOf(started).id)
    assert.equal(connection.auth, 'oauth')
    assert.equal(connection.account, 'ada')
    assert.equal(connection.client_id, 'client')
    assert.equal(connection.token_hint, null)
    assert.equal(connection.token_expires_at, null)
    // Gitea does not report them.
    assert.deepEqual(connection.scopes, provider === 'gitlab' ? ['read_api', 'read_repository'] : [])
    const listed = await api.call('GET', `${git}/connections/${connection.id}/repositories`)
    assert.equal(listed.status, 200)

    // The application is kept, and a second account gets a connection of its own.
    const second = await authorize(api, { provider, base_url: fake.url })
    const grace = await callback(api, fake.approve(second.body.url as string, 'grace'))
    assert.equal(connectionOf(grace).account, 'grace')
    assert.notEqual(connectionOf(grace).id, connection.id)
    const other = await authorize(api, { connection_id: connection.id })
    const mixed = await callback(api, fake.approve(other.body.url as string, 'grace'))
    assert.equal(connectionOf(mixed).id, connectionOf(grace).id, 'the other account keeps its connection')
    assert.equal(((await api.call('GET', `${git}/connections`)).body as unknown as unknown[]).length, 2)
  })
}

test('an authorization of a connected account by a new attempt keeps the id of its connection', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const { body } = await connectToken(api, 'gitlab', fake, fake.createToken('ada'))
  const started = await authorize(api, { provider: 'gitlab', base_url: fake.url, ...application })
  const done = await callback(api, fake.approve(started.body.url as string, 'Ada'))
  assert.equal(connectionOf(done).id, body.id)
  assert.equal(connectionOf(done).auth, 'oauth')
  await eventually(
    'the removal of the pending connection',
    () => api.storage.actors.record(connectionOf(started).id as string)?.status === 'deleted',
  )
  assert.equal(((await api.call('GET', `${git}/connections`)).body as unknown as unknown[]).length, 1)
})

test('a user who denies the authorization gets the reason, and the connection stays pending', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const started = await authorize(api, { provider: 'gitlab', base_url: fake.url, ...application })
  const { state } = fake.approve(started.body.url as string, 'ada')
  const denied = await callback(api, {
    state,
    error: 'access_denied',
    error_description: 'The owner denied.',
  })
  assert.equal(denied.status, 400)
  assert.equal(denied.body.code, 'git_authorization_rejected')
  assert.equal(denied.body.detail, 'The owner denied.')
  const connection = await api.call('GET', `${git}/connections/${connectionOf(started).id}`)
  assert.equal(connection.body.status, 'pending')
})

test('a code that the provider rejects is a 400, and its connection can be resumed', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const started = await authorize(api, { provider: 'gitlab', base_url: fake.url, ...application })
  const { state } = fake.approve(started.body.url as string, 'ada')
  const rejected = await callback(api, { state, code: 'a-wrong-code' })
  assert.equal(rejected.status, 400)
  assert.equal(rejected.body.code, 'git_authorization_rejected')
  assert.doesNotMatch(rejected.text, /a-wrong-code|the client secret/)
  const resumed = await authorize(api, { connection_id: connectionOf(started).id })
  const done = await callback(api, fake.approve(resumed.body.url as string, 'ada'))
  assert.equal(done.body.status, 'connected')
})

test('an access token is renewed once for all requests, and its refresh token is replaced', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  fake.state.accessSeconds = 330
  const started = await authorize(api, { provider: 'gitlab', base_url: fake.url, ...application })
  const done = await callback(api, fake.approve(started.body.url as string, 'ada'))
  const id = connectionOf(done).id as string
  const before = api.storage.gitConnections.secrets(id)
  assert.ok(before?.kind === 'oauth')
  await api.storage.gitConnections.putSecrets(id, { ...before, expiresAt: new Date().toISOString() })

  const lists = await Promise.all(
    Array.from({ length: 5 }, () => api.call('GET', `${git}/connections/${id}/repositories`)),
  )

  assert.deepEqual(
    lists.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  )
  const renewals = fake.requests.filter(({ body }) => body.includes('grant_type=refresh_token'))
  assert.equal(renewals.length, 1)
  const after = api.storage.gitConnections.secrets(id)
  assert.ok(after?.kind === 'oauth' && after.refreshToken !== before.refreshToken)
  const connection = await api.call('GET', `${git}/connections/${id}`)
  assert.equal(connection.body.updated_at, connectionOf(done).updated_at, 'a renewal is not an update')
})

test('a refresh token that the provider rejects makes the connection invalid', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const started = await authorize(api, { provider: 'gitlab', base_url: fake.url, ...application })
  const done = await callback(api, fake.approve(started.body.url as string, 'ada'))
  const id = connectionOf(done).id as string
  const secrets = api.storage.gitConnections.secrets(id)
  assert.ok(secrets?.kind === 'oauth')
  const stale = { ...secrets, refreshToken: 'used up', expiresAt: new Date().toISOString() }
  await api.storage.gitConnections.putSecrets(id, stale)
  const listed = await api.call('GET', `${git}/connections/${id}/repositories`)
  assert.equal(listed.status, 409)
  assert.equal((await api.call('GET', `${git}/connections/${id}`)).body.invalid_reason, 'revoked')
})

test('a wrong application neither replaces the stored one nor breaks other connections', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const request = { provider: 'gitlab', base_url: fake.url }
  const started = await authorize(api, { ...request, ...application })
  const done = await callback(api, fake.approve(started.body.url as string, 'ada'))
  const id = connectionOf(done).id as string

  const wrong = await authorize(api, { ...request, client_id: 'client', client_secret: 'mistyped' })
  const refused = await callback(api, fake.approve(wrong.body.url as string, 'grace'))

  assert.equal(refused.status, 400)
  const secrets = api.storage.gitConnections.secrets(id)
  assert.ok(secrets?.kind === 'oauth')
  await api.storage.gitConnections.putSecrets(id, { ...secrets, expiresAt: new Date().toISOString() })
  assert.equal((await api.call('GET', `${git}/connections/${id}/repositories`)).status, 200)
  const again = await authorize(api, request)
  assert.match(again.body.url as string, /client_id=client&/)
  const grace = await callback(api, fake.approve(again.body.url as string, 'grace'))
  assert.equal(grace.body.status, 'connected')
})

test('an access token that ended early is renewed, or the connection becomes invalid', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const started = await authorize(api, { provider: 'gitlab', base_url: fake.url, ...application })
  const done = await callback(api, fake.approve(started.body.url as string, 'ada'))
  const id = connectionOf(done).id as string
  const path = `${git}/connections/${id}`
  const revokeAll = () => {
    for (const token of fake.state.tokens.keys()) fake.revoke(token)
  }

  revokeAll()
  assert.equal((await api.call('GET', `${path}/repositories`)).status, 200)
  assert.equal((await api.call('GET', path)).body.status, 'connected')

  revokeAll()
  fake.state.refreshTokens.clear()
  assert.equal((await api.call('GET', `${path}/repositories`)).status, 409)
  assert.equal((await api.call('GET', path)).body.invalid_reason, 'revoked')
})

test('apps that are registered in two tabs become two connections', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const request = { provider: 'github', base_url: fake.url }
  const tabs = [await authorize(api, request), await authorize(api, request)]
  const ids = tabs.map((tab) => connectionOf(tab).id)
  for (const [index, tab] of tabs.entries()) {
    const { code, state, manifest } = registerApp(fake, tab)
    const registered = await callback(api, { code, state })
    assert.equal(connectionOf(registered).phase, 'installing')
    const installation_id = fake.installApp(manifest.name, ['ada', 'acme'][index]!)
    const next = new URL(registered.body.url as string).searchParams.get('state')
    const installed = await callback(api, { state: next, installation_id })
    assert.equal(connectionOf(installed).id, ids[index])
  }
  assert.notEqual(ids[0], ids[1])
})

test('a request that contradicts its connection is refused', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const started = await authorize(api, { provider: 'github', base_url: fake.url })
  const { id: connection_id } = connectionOf(started)
  for (const contradiction of [
    { provider: 'gitlab' },
    { base_url: 'https://github.example.com' },
    { organization: 'acme' },
  ]) {
    const refused = await authorize(api, { connection_id, ...contradiction })
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_request'])
  }
  const same = await authorize(api, { connection_id, provider: 'github', base_url: `${fake.url}/` })
  assert.equal(same.status, 200)
})

test('the token of an app is for the present name of a repository that was renamed', async (t) => {
  const root = temporaryDirectory(t)
  mkdirSync(join(root, 'ada'))
  createRepository(t, { root: join(root, 'ada'), name: 'store.git' }).commit('First', {})
  const [api, fake] = [await startApi(t), await createGitProvider(t, { root })]
  const { id } = await connectApp(api, fake)
  fake.state.renamed.set('ada/shop', 'ada/store')
  fake.state.uninstalledRepositories.push('shop')
  const branches = (name: string) =>
    api.call('GET', `${git}/branches?repo_url=${encodeURIComponent(`${fake.url}/ada/${name}.git`)}`)
  const { status, body } = await branches('shop')
  assert.deepEqual([status, body.connection_id, body.branches], [200, id, ['main']])
  fake.state.uninstalledRepositories.push('other')
  assert.match((await branches('other')).body.detail as string, /ada supplied no token: .*not accessible/)
  assert.equal((await api.call('GET', `${git}/connections/${id}`)).body.status, 'connected')
  fake.state.renamed.set('ada/gone', 'eve/store')
  fake.state.uninstalledRepositories.push('gone')
  assert.match((await branches('gone')).body.detail as string, /ada supplied no token: .*not accessible/)
})

test('a limit of GitHub holds for the tokens of all repositories of an app', async (t) => {
  let isLimited = false
  const limit = { status: 429, headers: { 'retry-after': '60' }, body: { message: 'slow down' } }
  const isToken = ({ path }: { path: string }) => path.endsWith('/access_tokens')
  const override = (request: { path: string }) => (isLimited && isToken(request) ? limit : null)
  const [api, fake] = [await startApi(t), await createGitProvider(t, { override })]
  await connectApp(api, fake)
  isLimited = true
  const before = fake.requests.filter(isToken).length
  for (const name of ['shop', 'store']) {
    const query = `repo_url=${encodeURIComponent(`${fake.url}/ada/${name}.git`)}`
    const { body } = await api.call('GET', `${git}/branches?${query}`)
    assert.match(body.detail as string, /ada supplied no token: .* limits requests until/)
  }
  assert.equal(fake.requests.filter(isToken).length, before + 1)
})

test('a limit of requests about commits does not keep an app from its tokens', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const { id } = await connectApp(api, fake)
  const ports = { ...api, actors: api.context.actors, settings: { gitHosts: testHostRules } }
  const place = { connectionId: id, repository: 'ada/shop' }
  const limited = new RetryLater('git_provider_unavailable', 'too many statuses', 3600)
  const ask = () =>
    askAboutRepository(ports as unknown as GitConnectionPorts, place, t.signal, () => Promise.reject(limited))
  await assert.rejects(ask(), /too many statuses/)
  const tokens = () => fake.requests.filter(({ path }) => path.endsWith('/access_tokens')).length
  const before = tokens()
  await assert.rejects(ask(), /too many statuses/)
  assert.equal(tokens(), before)
  await api.call('GET', `${git}/branches?repo_url=${encodeURIComponent(`${fake.url}/ada/shop.git`)}`)
  assert.equal(tokens(), before + 1)
})

test("GitHub's secondary rate limit is an unavailable provider, and ends nothing", async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const token = fake.createToken('ada')
  const { body } = await connectToken(api, 'github', fake, token)
  fake.state.isLimited = true
  const answers = [
    await api.call('GET', `${git}/connections/${body.id}/repositories`),
    await connectToken(api, 'github', fake, token),
  ]
  for (const { status, body } of answers)
    assert.deepEqual([status, body.code], [502, 'git_provider_unavailable'])
  assert.equal((await api.call('GET', `${git}/connections/${body.id}`)).body.status, 'connected')
})

test('an app that reports deploys may write statuses and read checks, and only such an app', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const request = { provider: 'github', base_url: fake.url }
  const started = await authorize(api, { ...request, report_deploys: true })
  const { manifest } = registerApp(fake, started)
  const read = { contents: 'read', metadata: 'read' }
  assert.deepEqual(manifest.default_permissions, { ...read, statuses: 'write', checks: 'read' })
  assert.deepEqual(manifest.default_events, ['push', 'check_suite', 'status'])
  assert.equal(connectionOf(started).report_deploys, true)
})

test('a token of an application is asked for the right to report deploys', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const scopeOf = async (provider: string, report_deploys: boolean) => {
    const body = { provider, base_url: fake.url, report_deploys, ...application }
    const { body: started } = await authorize(api, body)
    return new URL(started.url as string).searchParams.get('scope')
  }
  assert.equal(await scopeOf('gitlab', true), 'api read_repository')
  assert.equal(await scopeOf('gitlab', false), 'read_api read_repository')
  assert.equal(await scopeOf('gitea', true), 'write:repository read:user')
})

test('an application that reports deploys also lists repositories and reads their branches', async (t) => {
  const root = temporaryDirectory(t)
  mkdirSync(join(root, 'ada'))
  createRepository(t, { root: join(root, 'ada'), name: 'shop.git' }).commit('First', { file: 'one' })
  const api = await startApi(t)
  for (const provider of ['gitlab', 'gitea']) {
    const fake = await createGitProvider(t, { root })
    const body = { provider, base_url: fake.url, report_deploys: true, ...application }
    const started = await authorize(api, body)
    const { id } = connectionOf(await callback(api, fake.approve(started.body.url as string, 'ada')))

    const listed = await api.call('GET', `${git}/connections/${id}/repositories`)
    assert.equal(listed.status, 200, listed.text)
    const query = new URLSearchParams({ repo_url: `${fake.url}/ada/shop.git` })
    const read = await api.call('GET', `${git}/branches?${query}`)
    assert.deepEqual([read.status, read.body.connection_id], [200, id], read.text)
    assert.deepEqual(read.body.branches, ['main'])
  }
})
