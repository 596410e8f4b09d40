// Git connections with personal access tokens, their repositories, and their end.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { GitConnectionPorts } from '../../../src/effects/git-connection/ports.ts'
import { accessForService } from '../../../src/effects/git-connection/service-access.ts'
import { parseRepositoryUrl } from '../../../src/git/repository.ts'
import { createGitProvider } from '../../support/git/git-provider.ts'
import { portlessAddress, testHostRules } from '../../support/git/git-server.ts'
import { createRepository } from '../../support/git/repository.ts'
import { all, authorize, connectionOf, connectToken, git } from '../../support/http/git-connections.ts'
import { startApi } from '../../support/http/http-context.ts'
import { serviceRow } from '../../support/storage/store-fixtures.ts'
import { eventually } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

for (const provider of all) {
  test(`a token connects an account of ${provider}, and a second one replaces it`, async (t) => {
    const [api, fake] = [await startApi(t), await createGitProvider(t)]
    const first = await connectToken(api, provider, fake, fake.createToken('Ada'))
    assert.equal(first.status, 201)
    const expiresAt = '2099-01-31T00:00:00.000Z'
    const scopes = { github: ['repo'], gitlab: ['read_api'], gitea: ['read:user'] }[provider]
    const token = fake.createToken('ada', { scopes, expiresAt })

    const second = await connectToken(api, provider, fake, ` ${token}\n`)

    assert.equal(second.status, 200)
    assert.equal(second.body.id, first.body.id)
    assert.match(second.body.id as string, /^git-[0-9a-z]{26}$/)
    const { id, created_at, updated_at, revision, by, ...rest } = second.body
    const reports = provider !== 'gitea'
    assert.deepEqual(rest, {
      provider,
      auth: 'token',
      status: 'connected',
      phase: null,
      invalid_reason: null,
      error: null,
      error_code: null,
      account: 'ada',
      account_name: provider === 'gitea' ? null : 'ada the user',
      app_slug: null,
      app_url: null,
      manage_url: null,
      base_url: fake.url,
      client_id: null,
      repository_selection: null,
      scopes: reports ? scopes : [],
      services: [],
      token_expires_at: reports ? expiresAt : null,
      token_hint: token.slice(-4),
      report_deploys: false,
    })
    assert.deepEqual((await api.call('GET', `${git}/connections`)).body, [second.body])
    assert.deepEqual((await api.call('GET', `${git}/connections/${id}`)).body, second.body)
  })

  test(`the repositories of ${provider} are listed, last updated first`, async (t) => {
    const [api, fake] = [await startApi(t), await createGitProvider(t, { repositories: 3 })]
    const { body } = await connectToken(api, provider, fake, fake.createToken('ada'))

    const listed = await api.call('GET', `${git}/connections/${body.id}/repositories`)

    assert.equal(listed.status, 200)
    assert.equal(listed.body.truncated, false)
    const repositories = listed.body.repositories as Record<string, unknown>[]
    const names = repositories.map(({ name }) => name)
    assert.deepEqual(names, ['repo-0', 'repo-1', 'repo-2'])
    const owner = provider === 'gitlab' ? 'ada/group' : 'ada'
    assert.deepEqual(repositories[0], {
      id: '1',
      name: 'repo-0',
      full_name: `${owner}/repo-0`,
      owner,
      description: 'Number 0',
      private: true,
      archived: false,
      default_branch: 'main',
      clone_url: `${fake.url}/${owner}/repo-0.git`,
      web_url: `${fake.url}/${owner}/repo-0`,
      updated_at: '2026-01-01T00:00:00.000Z',
    })
    assert.equal(repositories[1]!.description, null)
    assert.equal(repositories[1]!.archived, true)
    assert.equal(repositories[1]!.private, false)
    assert.equal(repositories[2]!.default_branch, null)
  })

  for (const [count, isTruncated] of [
    [250, false],
    [1000, false],
    [1001, true],
  ] as const) {
    test(`${provider} lists ${count} repositories${isTruncated ? ' as truncated' : ''}`, async (t) => {
      const [api, fake] = [await startApi(t), await createGitProvider(t, { repositories: count })]
      const { body } = await connectToken(api, provider, fake, fake.createToken('ada'))
      const listed = await api.call('GET', `${git}/connections/${body.id}/repositories`)
      const repositories = listed.body.repositories as { name: string }[]
      assert.equal(repositories.length, Math.min(1000, count))
      assert.equal(new Set(repositories.map(({ name }) => name)).size, repositories.length)
      assert.equal(listed.body.truncated, isTruncated)
    })
  }

  test(`${provider} refuses a wrong token with 400, and a revoked stored one with 409`, async (t) => {
    const [api, fake] = [await startApi(t), await createGitProvider(t)]
    const wrong = await connectToken(api, provider, fake, 'wrong-token')
    assert.equal(wrong.status, 400)
    assert.equal(wrong.body.code, 'git_authorization_rejected')
    assert.doesNotMatch(wrong.text, /wrong-token/)
    const token = fake.createToken('ada')
    const { body } = await connectToken(api, provider, fake, token)
    fake.revoke(token)

    const listed = await api.call('GET', `${git}/connections/${body.id}/repositories`)

    assert.equal(listed.status, 409)
    assert.equal(listed.body.code, 'git_authorization_rejected')
    const connection = await api.call('GET', `${git}/connections/${body.id}`)
    assert.equal(connection.body.status, 'invalid')
    assert.equal(connection.body.invalid_reason, 'revoked')
    const again = await api.call('GET', `${git}/connections/${body.id}/repositories`)
    assert.equal(again.status, 409)
    const renewed = await connectToken(api, provider, fake, fake.createToken('ada'))
    assert.equal(renewed.body.id, body.id)
    assert.equal(renewed.body.status, 'connected')
    assert.equal(renewed.body.error, null)
  })
}

test('all repositories are listed if GitHub names only the next page', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t, { repositories: 250 })]
  fake.state.linksLastPage = false
  const { body } = await connectToken(api, 'github', fake, fake.createToken('ada'))
  const listed = await api.call('GET', `${git}/connections/${body.id}/repositories`)
  assert.equal((listed.body.repositories as object[]).length, 250)
  assert.equal(listed.body.truncated, false)
})

test('a token of GitHub without the scope for private repositories lists the public ones', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t, { repositories: 5 })]
  const { body } = await connectToken(api, 'github', fake, fake.createToken('ada', { scopes: [] }))
  const listed = await api.call('GET', `${git}/connections/${body.id}/repositories`)
  const repositories = listed.body.repositories as { name: string; private: boolean }[]
  assert.deepEqual(
    repositories.map((one) => [one.name, one.private]),
    [
      ['repo-1', false],
      ['repo-3', false],
    ],
  )
})

test('a repository that moves to another page meanwhile is listed once', async (t) => {
  const api = await startApi(t)
  let isMoved = false
  const fake = await createGitProvider(t, {
    repositories: 150,
    override: ({ path }) => {
      // One repository is pushed to after the first page was read: all others move by one.
      if (path.includes('&page=2')) isMoved = true
      return null
    },
  })
  fake.state.indexOf = (index) => (isMoved ? (index + 149) % 150 : index)
  const { body } = await connectToken(api, 'gitlab', fake, fake.createToken('ada'))
  const listed = await api.call('GET', `${git}/connections/${body.id}/repositories`)
  const ids = (listed.body.repositories as { id: string }[]).map(({ id }) => id)
  assert.equal(new Set(ids).size, ids.length)
})

test('a project whose address is switched off does not hide the others', async (t) => {
  const api = await startApi(t)
  const project = {
    id: 1,
    path: 'shop',
    path_with_namespace: 'ada/shop',
    namespace: { full_path: 'ada' },
    http_url_to_repo: null,
    web_url: 'https://gitlab.example.com/ada/shop',
  }
  const fake = await createGitProvider(t, {
    override: ({ path }) => (path.startsWith('/api/v4/projects') ? { status: 200, body: [project] } : null),
    repositories: 0,
  })
  const { body } = await connectToken(api, 'gitlab', fake, fake.createToken('ada'))
  const listed = await api.call('GET', `${git}/connections/${body.id}/repositories`)
  assert.equal(listed.status, 200)
  assert.equal((listed.body.repositories as { clone_url: string }[])[0]!.clone_url, '')
})

test('the newest of many unsorted repositories are listed', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t, { repositories: 1500 })]
  fake.state.indexOf = (index) => 1499 - index
  const { body } = await connectToken(api, 'gitea', fake, fake.createToken('ada'))
  const listed = await api.call('GET', `${git}/connections/${body.id}/repositories`)
  const repositories = listed.body.repositories as { name: string }[]
  assert.deepEqual([repositories[0]!.name, repositories.at(-1)!.name], ['repo-0', 'repo-999'])
})

test('a pending connection has no repositories, and a token is not authorized in the browser', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const pending = connectionOf(await authorize(api, { provider: 'github', base_url: fake.url }))
  const listed = await api.call('GET', `${git}/connections/${pending.id}/repositories`)
  assert.equal(listed.status, 409)
  assert.equal(listed.body.code, 'git_authorization_rejected')
  const { body } = await connectToken(api, 'github', fake, fake.createToken('ada'))
  const refused = await authorize(api, { connection_id: body.id })
  assert.equal(refused.status, 400)
  assert.equal(refused.body.code, 'invalid_request')
  assert.equal((await authorize(api, { connection_id: 'git-unknown' })).status, 404)
})

test('a connection that clones repositories is deleted only with force', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const { body } = await connectToken(api, 'github', fake, fake.createToken('ada'))
  const repo_url = `${fake.url}/ada/repo-0.git`
  const create = { name: 'shop', type: 'web_service', repo_url, deploy: false }
  assert.equal((await api.call('POST', '/api/v1/services', { body: create })).status, 201)
  const path = `${git}/connections/${body.id}`
  assert.deepEqual((await api.call('GET', path)).body.services, ['shop'])

  const refused = await api.call('DELETE', path)

  assert.equal(refused.status, 409)
  assert.equal(refused.body.code, 'in_use')
  assert.deepEqual(
    (refused.body.errors as { path: string }[]).map((one) => one.path),
    ['shop'],
  )
  assert.equal((await api.call('DELETE', `${path}?force=true`)).status, 204)
  await eventually('the removal', () => api.storage.actors.record(body.id as string)?.status === 'deleted')
  assert.equal((await api.call('GET', path)).status, 404)
  await eventually('the removal of the secrets', () => !api.storage.gitConnections.secrets(body.id as string))
  const service = '/api/v1/services/shop'
  const kept = (await api.call('GET', service)).body
  assert.deepEqual([kept.repo_url, kept.use_git_connection], [repo_url, false])

  // Another connection does not take over until the user says so.
  const other = await connectToken(api, 'github', fake, fake.createToken('grace'))
  const servicesOf = async () => (await api.call('GET', `${git}/connections/${other.body.id}`)).body.services
  assert.deepEqual(await servicesOf(), [])
  await api.call('PATCH', service, { body: { use_git_connection: true } })
  assert.deepEqual(await servicesOf(), ['shop'])
})

test('a service with a new repository uses git connections again', async (t) => {
  const api = await startApi(t)
  const repo_url = 'https://git.example.com/ada/shop.git'
  const create = { name: 'shop', type: 'web_service', repo_url, use_git_connection: false, deploy: false }
  assert.equal((await api.call('POST', '/api/v1/services', { body: create })).status, 201)
  const patch = (body: object) => api.call('PATCH', '/api/v1/services/shop', { body })
  assert.equal((await patch({ repo_url })).body.use_git_connection, false)
  assert.equal((await patch({ repo_url: `${repo_url}/` })).body.use_git_connection, false)
  assert.equal((await patch({ repo_url: 'https://git.example.com/ada/site' })).body.use_git_connection, true)
})

test('malformed input is refused before the provider is called', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const token = 'a-token'
  for (const body of [
    { provider: 'bitbucket', token },
    { provider: 'github' },
    { provider: 'github', token: 'two words' },
    { provider: 'github', token: 'x'.repeat(1025) },
    { provider: 'gitea', token },
    { provider: 'github', token, base_url: 'ftp://example.com' },
    { provider: 'github', token, base_url: 'https://ada:secret@example.com' },
    { provider: 'github', token, base_url: 'https://example.com/?a=b' },
  ]) {
    const refused = await api.call('POST', `${git}/connections`, { body })
    assert.equal(refused.status, 400, JSON.stringify(body))
    assert.equal(refused.body.code, 'invalid_request')
    assert.doesNotMatch(refused.text, /secret/)
  }
  for (const redirect_uri of [
    '/git/callback',
    'javascript:alert(1)',
    'https://a.example/?b',
    'https://u:p@a.example/',
  ]) {
    assert.equal((await authorize(api, { provider: 'github', redirect_uri })).status, 400, redirect_uri)
  }
  assert.equal((await authorize(api, {})).status, 400, 'neither a provider nor a connection')
  assert.deepEqual(fake.requests, [])
})

test('loopback and metadata addresses of a provider are refused', async (t) => {
  const api = await startApi(t)
  for (const base_url of [
    'http://127.0.0.2:8080',
    'http://169.254.169.254',
    'http://[::1]',
    'http://[fe80::1]',
  ]) {
    const refused = await api.call('POST', `${git}/connections`, {
      body: { provider: 'gitlab', token: 'a-token', base_url },
    })
    assert.equal(refused.status, 400, base_url)
    assert.equal(refused.body.code, 'invalid_request')
  }
})

test('a path that git may not read is a refusal, and a refused host a wrong request', async (t) => {
  const api = await startApi(t)
  const directory = temporaryDirectory(t)
  chmodSync(directory, 0o700)
  for (const [repo_url, status, code] of [
    [directory, 502, 'git_remote_unreachable'],
    ['/nowhere/at/all', 502, 'git_remote_unreachable'],
    ['http://169.254.169.254/app', 400, 'invalid_request'],
    ['ext::sh', 400, 'invalid_request'],
    ['ftp://example.com/app', 400, 'invalid_request'],
    ['relative/path', 400, 'invalid_request'],
  ] as const) {
    const refused = await api.call('GET', `${git}/branches?${new URLSearchParams({ repo_url })}`)
    assert.deepEqual([refused.status, refused.body.code], [status, code], repo_url)
  }
  assert.equal((await api.call('GET', `${git}/branches`)).status, 400)
})

test('an ssh address of a group is read with a connection that may read it, else over ssh', async (t) => {
  const root = temporaryDirectory(t)
  mkdirSync(join(root, 'acme'))
  for (const name of ['tool', 'secret'])
    createRepository(t, { root: join(root, 'acme'), name: `${name}.git` }).commit('First', { file: 'one' })
  const listen = { address: portlessAddress, port: 80 }
  const [api, fake] = [await startApi(t), await createGitProvider(t, { root, listen })]
  const token = fake.createToken('ada', { groups: ['acme'], repositories: ['tool'] })
  const { body } = await connectToken(api, 'gitlab', fake, token)
  const branches = (name: string) => {
    const query = new URLSearchParams({ repo_url: `git@${portlessAddress}:acme/${name}.git` })
    return api.call('GET', `${git}/branches?${query}`)
  }
  const read = await branches('tool')
  assert.deepEqual([read.status, read.body.connection_id], [200, body.id], read.text)
  const refused = await branches('secret')
  assert.equal(refused.status, 502)
  assert.match(refused.body.detail as string, /nothing listens at its address/)
})

test('the deploy key of a service comes before a connection, for its ssh address only', async (t) => {
  const listen = { address: portlessAddress, port: 80 }
  const [api, fake] = [await startApi(t), await createGitProvider(t, { listen })]
  const { body } = await connectToken(api, 'gitea', fake, fake.createToken('ada'))
  const servingOf = async (name: string, repo_url: string) => {
    await api.call('POST', '/api/v1/services', { body: { name, repo_url, deploy: false } })
    const serving = () => api.context.git.servingId(api.storage.services.get(name)!)
    const before = serving()
    await api.call('POST', `/api/v1/services/${name}/deploy-key`)
    return [before, serving()]
  }
  assert.deepEqual(await servingOf('over-ssh', `git@${portlessAddress}:ada/shop.git`), [body.id, null])
  assert.deepEqual(await servingOf('over-http', `${fake.url}/ada/shop.git`), [body.id, body.id])

  const service = api.storage.services.get('over-ssh')!
  const ports = { ...api, actors: api.context.actors, settings: { gitHosts: testHostRules } }
  const lines: string[] = []
  const { repository, connection, ssh } = await accessForService(
    ports as unknown as GitConnectionPorts,
    service,
    parseRepositoryUrl(service.repo_url!),
    { say: (line) => void lines.push(line), isTrusted: true, signal: t.signal },
  )
  assert.deepEqual([repository.url, connection, ssh.key === null], [service.repo_url, null, false])
  assert.deepEqual(lines, ['reading the repository with the deploy key of the service'])
})

test('a read with several accounts ends with its deadline', async (t) => {
  const override = ({ path }: { path: string }) => (path.includes('.git/') ? ('hang' as const) : null)
  const [api, fake] = [await startApi(t), await createGitProvider(t, { override })]
  for (const login of ['ada', 'bob']) await connectToken(api, 'gitea', fake, fake.createToken(login))
  const ports = { ...api, actors: api.context.actors, settings: { gitHosts: testHostRules } }
  const service = await api.storage.services.create(serviceRow({ repo_url: `${fake.url}/team/shop.git` }))
  const ended = new AbortController()
  const reading = accessForService(
    ports as unknown as GitConnectionPorts,
    service,
    parseRepositoryUrl(service.repo_url!),
    { isTrusted: true, signal: ended.signal },
  )
  const isAsked = () => fake.requests.some(({ path }) => path.includes('.git/'))
  while (!isAsked()) await new Promise((resolve) => setTimeout(resolve, 20))
  ended.abort()
  await assert.rejects(reading, { name: 'AbortError' })
})

test('parallel requests for one account create one connection', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const tokens = Array.from({ length: 5 }, () => fake.createToken('ada'))
  const connected = await Promise.all(tokens.map((token) => connectToken(api, 'gitea', fake, token)))
  assert.equal(new Set(connected.map(({ body }) => body.id)).size, 1)
  assert.deepEqual(connected.map(({ status }) => status).sort(), [200, 200, 200, 200, 201])
})

test('a service with credentials of its own uses no connection', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const { body } = await connectToken(api, 'gitea', fake, fake.createToken('ada'))
  const repo_url = `${fake.url.replace('://', '://user:secret@')}/ada/repo-0.git`
  const create = { name: 'shop', type: 'web_service', repo_url, deploy: false }
  await api.call('POST', '/api/v1/services', { body: create })
  const path = `${git}/connections/${body.id}`
  assert.deepEqual((await api.call('GET', path)).body.services, [])
  assert.equal((await api.call('DELETE', path)).status, 204)
})

test('deploys are reported if a connection says so, also after its token is replaced', async (t) => {
  const [api, fake] = [await startApi(t), await createGitProvider(t)]
  const token = fake.createToken('ada')
  const body = { provider: 'gitea', token, base_url: fake.url, report_deploys: true }
  const made = await api.call('POST', `${git}/connections`, { body })
  const again = await connectToken(api, 'gitea', fake, fake.createToken('ada'))
  assert.deepEqual([made.body.report_deploys, again.body.report_deploys], [true, true])
  const path = `${git}/connections/${made.body.id}`
  const off = await api.call('PATCH', path, { body: { report_deploys: false } })
  assert.deepEqual([off.status, off.body.report_deploys], [200, false])
  assert.equal((await api.call('PATCH', path, { body: {} })).body.report_deploys, false)
  const on = await api.call('POST', `${git}/connections`, { body: { ...body, token } })
  assert.deepEqual([on.status, on.body.report_deploys], [200, true])
})
