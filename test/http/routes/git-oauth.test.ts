// Git connections with an OAuth application of GitLab or Gitea, and the renewal of their tokens.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGitProvider } from '../../support/git/git-provider.ts'
import {
  application,
  authorize,
  callback,
  connectionOf,
  connectToken,
  git,
  redirectUri,
} from '../../support/http/git-connections.ts'
import { startApi } from '../../support/http/http-context.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

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
  await api.call('DELETE', `${git}/connections/${connectionOf(wrong).id}`)
  const again = await authorize(api, request)
  assert.match(again.body.url as string, /client_id=client&/)
  const grace = await callback(api, fake.approve(again.body.url as string, 'grace'))
  assert.equal(grace.body.status, 'connected')
})

test('a renewal that a proxy refuses is repeated later, and the connection stays connected', async (t) => {
  let isDown = false
  const fake = await createGitProvider(t, {
    override: ({ path }) => (isDown && path.startsWith('/oauth/') ? { status: 404, text: 'proxy' } : null),
  })
  const api = await startApi(t)
  const started = await authorize(api, { provider: 'gitlab', base_url: fake.url, ...application })
  const done = await callback(api, fake.approve(started.body.url as string, 'ada'))
  const id = connectionOf(done).id as string
  const secrets = api.storage.gitConnections.secrets(id)
  assert.ok(secrets?.kind === 'oauth')
  await api.storage.gitConnections.putSecrets(id, { ...secrets, expiresAt: new Date().toISOString() })
  isDown = true

  const listed = await api.call('GET', `${git}/connections/${id}/repositories`)

  assert.deepEqual([listed.status, listed.body.code], [502, 'git_provider_unavailable'])
  assert.equal((await api.call('GET', `${git}/connections/${id}`)).body.status, 'connected')
  isDown = false
  assert.equal((await api.call('GET', `${git}/connections/${id}/repositories`)).status, 200)
})
