// Git connections with an app of GitHub: its registration, its installation and its tokens.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGitProvider } from '../../support/git/git-provider.ts'
import {
  authorize,
  callback,
  connectApp,
  connectionOf,
  git,
  redirectUri,
  registerApp,
} from '../../support/http/git-connections.ts'
import { startApi } from '../../support/http/http-context.ts'

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

  const registered = await callback(api, { code, state })

  assert.equal(registered.body.status, 'redirect')
  assert.equal(registered.body.method, 'get')
  assert.match(registered.body.url as string, /\/apps\/berth-.*\/installations\/new\?state=/)
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
  assert.equal(connection.account, 'ada')
  assert.equal(connection.app_slug, manifest.name)
  assert.equal(connection.repository_selection, 'selected')
  assert.equal(connection.manage_url, `${fake.url}/settings/installations/${installationId}`)

  for (const _ of [1, 2]) {
    const listed = await api.call('GET', `${git}/connections/${connection.id}/repositories`)
    assert.equal(listed.status, 200)
    assert.equal((listed.body.repositories as { name: string }[])[0]!.name, 'repo-0')
  }
  const created = fake.requests.filter(({ path }) => path.endsWith('/access_tokens'))
  assert.equal(created.length, 1, 'the token is cached')
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

test('a request to the owners of an organization is not an installation', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const started = await authorize(api, { provider: 'github', base_url: fake.url })
  const { code, state } = registerApp(fake, started)
  const registered = await callback(api, { code, state })
  const next = new URL(registered.body.url as string).searchParams.get('state')
  const requested = await callback(api, { state: next, setup_action: 'request' })
  assert.equal(requested.status, 400)
  assert.equal(requested.body.code, 'git_authorization_rejected')
  assert.match(requested.body.detail as string, /owner of the organization/)
  assert.equal(
    connectionOf(await authorize(api, { connection_id: connectionOf(started).id })).phase,
    'installing',
  )
})

test('a cached token that GitHub rejects is replaced, unless the app was uninstalled', async (t) => {
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
  assert.equal((await callback(api, { state: next, setup_action: 'request' })).status, 400)

  const installation_id = fake.installApp(manifest.name, 'ada')
  const approved = await callback(api, { installation_id, setup_action: 'install' })

  assert.equal(approved.body.status, 'connected')
  assert.equal(connectionOf(approved).id, connectionOf(started).id)
})
