// Automatic deploys on real repositories and a real engine: what is deployed after a push, and what is not.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runBerth } from '../support/cli/berth.ts'
import type { Body } from '../support/daemon/api.ts'
import { fetchPage, finishedDeploy, pageApp, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { startRegistry } from '../support/docker/registry.ts'
import { createGitProvider } from '../support/git/git-provider.ts'
import { createGitServer } from '../support/git/git-server.ts'
import { createRepository, runTestGit } from '../support/git/repository.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import { sized } from '../support/system/drill-size.ts'

const suite = daemonSuite()

async function openShop(t: TestContext, settings: Body = {}) {
  const { api } = suite
  const service = await createService(t, api, await pageApp('one'), settings)
  const { name, repository } = service
  const read = () => api.get(`/services/${name}`)
  let pollSeconds = 1000
  return {
    ...service,
    read,
    deploys: () => api.get(`/services/${name}/deploys`) as Promise<Body[]>,
    /** A new interval begins with a look. */
    look: () => api.call('PATCH', `/services/${name}`, { poll_seconds: ++pollSeconds }),
    /** The decision about this commit. */
    decided: (head: string) =>
      until(`the decision about ${head}`, async () => {
        const { decision } = (await read()).auto_deploys
        return decision?.head === head && decision
      }),
    push: (message: string, files: Record<string, string>) => repository.commit(message, files),
  }
}

interface SentPush {
  repo_url: string
  after: string
  /** Of the delivery. */
  id: string
  forced?: boolean | undefined
}

/** A push to main as Gitea delivers it. `query` names the connection by default. */
async function deliver(
  connection: string,
  { repo_url, after, id, forced }: SentPush,
  query = `?connection=${connection}`,
): Promise<{ status: number; body: Body }> {
  const { secret } = await suite.api.get(`/git/connections/${connection}/hook`)
  const repository = { clone_url: repo_url }
  const body = JSON.stringify({ ref: 'refs/heads/main', before: '', after, forced, repository })
  const response = await fetch(`${suite.api.url}/api/v1/hooks/gitea${query}`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-gitea-event': 'push',
      'x-gitea-delivery': id,
      'x-gitea-signature': createHmac('sha256', secret).update(body).digest('hex'),
    },
  })
  return { status: response.status, body: await response.json() }
}

test('a push is deployed once, and what it brings serves', async (t) => {
  const { name, repository, look, decided, push, deploys } = await openShop(t)
  await look()
  const first = await decided(repository.git('rev-parse', 'HEAD'))
  assert.deepEqual([first.deploy_id, (await deploys()).length], [null, 1])
  assert.match(first.reason, /^dep-\w+ has this version$/)

  const head = push('Two', { 'www/index.html': 'two' })
  await look()
  const { deploy_id, reason } = await decided(head)
  const deploy = await finishedDeploy(suite.api, deploy_id)

  assert.equal(reason, 'the branch has a new head')
  assert.deepEqual([deploy.status, deploy.trigger, deploy.commit_sha], ['live', 'push', head])
  assert.deepEqual(deploy.by, { kind: 'server', id: null, name: 'a push to main' })
  assert.equal(await fetchPage(suite.api, name), 'two')
  await look()
  assert.equal((await deploys()).length, 2)
})

test('a first deploy that is canceled is not begun again by itself', async (t) => {
  const { api } = suite
  const repository = createRepository(t)
  const head = repository.commit('First', await pageApp('one', 'RUN sleep 86411'))
  const repo_url = repository.directory
  const { latest_deploy } = await api.post('/services', { name: 'withdrawn', repo_url, drain_seconds: 0 })
  await api.post(`/deploys/${latest_deploy.id}/cancel`)
  const { reason } = await until('the decision', async () => {
    const { decision } = (await api.get('/services/withdrawn')).auto_deploys
    return decision?.head === head && decision
  })
  assert.match(reason, new RegExp(`^${latest_deploy.id} (was canceled|has this version)$`))
  assert.equal((await api.get('/services/withdrawn/deploys')).length, 1)
  await api.call('DELETE', '/services/withdrawn')
})

test('a head whose message asks for it is not deployed, and a later one is', async (t) => {
  const { look, decided, push, deploys } = await openShop(t)
  const skipped = push('Two [Skip Deploy]', { 'www/index.html': 'two' })
  await look()
  const decision = await decided(skipped)
  assert.deepEqual([decision.deploy_id, decision.reason], [null, 'its message asks for no deploy'])

  const head = push('Three', { 'www/index.html': 'three' })
  await look()
  await finishedDeploy(suite.api, (await decided(head)).deploy_id)
  assert.equal((await deploys())[0]!.commit_sha, head)
})

test('a service follows the highest tag of a pattern, not its branch', async (t) => {
  const shop = await openShop(t, { tag_pattern: 'v*', skip_ci: true })
  const { first: untagged, read, look, decided, push, deploys, repository } = shop
  assert.equal(untagged.error, `no tag of ${repository.directory} matches v*`)
  await look()
  const { status, decision } = (await read()).auto_deploys
  assert.deepEqual([status, decision], ['watching', null])
  const release = (tag: string, message: string) => {
    const head = push(message, { 'www/index.html': tag })
    repository.git('tag', '--annotate', '--message', tag, tag)
    return head
  }
  const first = release('v1.9', 'Nine')
  push('Not tagged', { 'www/index.html': 'later' })
  await look()
  const { deploy_id, reason } = await decided(first)
  assert.equal(reason, 'v1.9 is the highest tag')
  await finishedDeploy(suite.api, deploy_id)
  const second = release('v1.10', 'Ten')
  await look()
  await finishedDeploy(suite.api, (await decided(second)).deploy_id)
  assert.equal((await deploys())[0]!.commit_sha, second)

  const quiet = release('v1.11', 'Docs [skip ci]')
  await look()
  assert.equal((await decided(quiet)).reason, 'its message asks for no deploy')
  assert.equal((await deploys())[0]!.commit_sha, second)

  release('v2.0-rc1', 'Candidate')
  assert.equal((await finishedDeploy(suite.api, (await shop.request()).id)).commit_sha, quiet)
})

test('what is there when a service is only created is deployed with the next push', async (t) => {
  const { first, read, look, decided, push, deploys, repository } = await openShop(t, { deploy: false })
  const known = await decided(repository.git('rev-parse', 'HEAD'))
  assert.deepEqual([first, known.deploy_id], [null, null])
  assert.equal(
    known.reason,
    `it was there before the service; berth deploy ${(await read()).name} deploys it`,
  )

  const head = push('Two', { 'www/index.html': 'two' })
  await look()
  const deploy = await finishedDeploy(suite.api, (await decided(head)).deploy_id)
  assert.deepEqual([deploy.status, (await deploys()).length], ['live', 1])
})

test('the first tag that matches is deployed, also if the service was only created', async (t) => {
  const { read, look, decided, push, repository } = await openShop(t, { deploy: false, tag_pattern: 'v*' })
  await until('the first look', async () => {
    const { actor_id } = (await read()).auto_deploys
    const history: Body[] = actor_id ? await suite.api.get(`/actors/${actor_id}/history`) : []
    return history.some(({ phase }) => phase === 'found no version yet')
  })
  const head = push('One', { 'www/index.html': 'one' })
  repository.tag('v1')
  await look()
  assert.equal((await finishedDeploy(suite.api, (await decided(head)).deploy_id)).status, 'live')
})

test('a tag that is deleted takes nothing back, and a new one after it is deployed', async (t) => {
  const { name, look, decided, push, deploys, repository } = await openShop(t)
  const release = (tag: string) => {
    const head = push(tag, { 'www/index.html': tag })
    repository.tag(tag)
    return head
  }
  const older = release('v1.9')
  const mistyped = release('v20')
  await suite.api.call('PATCH', `/services/${name}`, { tag_pattern: 'v*' })
  await finishedDeploy(suite.api, (await decided(mistyped)).deploy_id)

  repository.git('tag', '--delete', 'v20')
  await look()
  const { deploy_id, reason } = await decided(older)
  assert.deepEqual([deploy_id, reason], [null, 'v20 was deleted, which takes nothing back'])

  const meant = release('v2.0')
  await look()
  await finishedDeploy(suite.api, (await decided(meant)).deploy_id)
  assert.equal((await deploys())[0]!.commit_sha, meant)

  // An earlier commit may be released again, under another name.
  repository.git('tag', 'v2.1', older)
  await look()
  assert.equal((await decided(older)).reason, 'v2.1 is the highest tag')

  repository.git('tag', '--delete', 'v2.1', 'v2.0')
  const again = push('Again', { 'www/index.html': 'again' })
  repository.git('tag', 'v2.0', again)
  await look()
  assert.equal((await decided(again)).reason, 'v2.0 is the highest tag')
})

test('only changes of watched paths are deployed, compared with what serves', async (t) => {
  const watch_paths = ['www/**', 'Dockerfile', '!www/*.md']
  const { look, decided, push } = await openShop(t, { watch_paths })
  push('Docs', { 'docs/a.md': 'a' })
  const docs = push('More docs', { 'www/b.md': 'b' })
  await look()
  assert.equal((await decided(docs)).reason, 'it changes nothing that is watched, only 2 other files')

  push('Page', { 'www/index.html': 'two' })
  const head = push('Docs again', { 'docs/a.md': 'c' })
  await look()
  const { deploy_id, reason } = await decided(head)
  assert.equal(reason, 'it changes www/index.html')
  await finishedDeploy(suite.api, deploy_id)
})

test('a watched change whose deploy fails is brought by the next push', async (t) => {
  const { look, decided, push } = await openShop(t, { watch_paths: ['Dockerfile', 'www/**'] })
  const broken = push('Broken', await pageApp('two', 'RUN sleep 4 && false'))
  await look()
  const { deploy_id } = await decided(broken)
  const docs = push('Docs', { 'docs/a.md': 'a' })
  await look()
  assert.equal((await finishedDeploy(suite.api, deploy_id)).status, 'failed')
  const next = await until('the second decision', async () => {
    const decision = await decided(docs)
    return decision.deploy_id !== null && decision
  })
  assert.equal(next.reason, 'it changes Dockerfile')
  assert.equal((await finishedDeploy(suite.api, next.deploy_id)).commit_sha, docs)
})

test('a rollback pauses automatic deploys until they are resumed', async (t) => {
  const { name, first, deploy, read, look, decided, push, deploys } = await openShop(t)
  await deploy(await pageApp('two'))
  const rollback = await suite.api.post(`/services/${name}/rollback`, { deploy_id: first.id })
  await finishedDeploy(suite.api, rollback.id)
  const { status, reason } = (await read()).auto_deploys
  assert.equal(status, 'paused')
  assert.equal(reason, `${rollback.id} rolled ${name} back; berth update ${name} --auto-deploy on resumes it`)

  const head = push('Three', { 'www/index.html': 'three' })
  await look()
  assert.equal((await deploys()).length, 3)
  await suite.api.call('PATCH', `/services/${name}`, { auto_deploy: true })
  await finishedDeploy(suite.api, (await decided(head)).deploy_id)
  assert.equal(await fetchPage(suite.api, name), 'three')
})

test('a delivery of the provider deploys at once, and thousands of them deploy once', async (t) => {
  const { api } = suite
  const root = temporaryDirectory(t)
  mkdirSync(join(root, 'ada'))
  const repository = createRepository(t, { root: join(root, 'ada'), name: 'shop.git' })
  repository.commit('First', await pageApp('one'))
  const provider = await createGitProvider(t, { root })
  const account = { provider: 'gitea', base_url: provider.url, token: provider.createToken('ada') }
  const connection = await api.post('/git/connections', account)
  const repo_url = `${provider.url}/ada/shop.git`
  const hooked = { name: 'hooked', repo_url, branch: 'main', drain_seconds: 0, poll_seconds: 0 }
  const { latest_deploy } = await api.post('/services', hooked)
  assert.equal((await finishedDeploy(api, latest_deploy.id)).status, 'live')
  const send = async (after: string, id: string, forced?: boolean) => {
    const { status } = await deliver(connection.id, { repo_url, after, id, forced })
    assert.equal(status, 200)
  }
  const deploys = async () => (await api.get('/services/hooked/deploys')).length

  const heads = [1, 2, 3].map((at) => repository.commit(`${at}`, { 'www/index.html': `v${at}` }))
  const late = Array.from({ length: sized(1000, 10_000) }, (_, at) => ({
    head: heads[at % 3]!,
    id: `d-${at % 700}`,
  }))
  for (let from = 0; from < late.length; from += 20)
    await Promise.all(late.slice(from, from + 20).map(({ head, id }) => send(head, id)))
  const decision = await until('the decision', async () => {
    const { auto_deploys } = await api.get('/services/hooked')
    return auto_deploys.decision?.head === heads[2] && auto_deploys.decision
  })
  assert.equal((await finishedDeploy(api, decision.deploy_id)).status, 'live')
  assert.equal(await fetchPage(api, 'hooked'), 'v3')
  await until('the decisions', async () => {
    const { stdout } = await runBerth(t, ['git', 'deliveries', 'hooked', '--limit', '100'], {
      daemon: suite.daemon,
    })
    const lines = stdout.trim().split('\n').slice(1)
    return lines.length === 100 && lines.every((line) => line.includes(`${decision.deploy_id}  `))
  })
  assert.equal(await deploys(), 2)

  repository.git('reset', '--hard', '--quiet', heads[0]!)
  await send(heads[0]!, 'back', true)
  const forced = await until('the decision about the forced push', async () => {
    const [{ deploy_id, ...delivery }] = await api.get('/services/hooked/deliveries?limit=1')
    return deploy_id !== null && delivery
  })
  const { reason } = (await api.get('/services/hooked')).auto_deploys.decision
  assert.equal(reason, 'a forced push gave the branch another head')
  assert.deepEqual([forced.forced, forced.reason], [true, reason])
  await api.call('DELETE', '/services/hooked')
})

test('the command line says what is deployed automatically, and why not', async (t) => {
  const berth = (...args: string[]) => runBerth(t, args, { daemon: suite.daemon })
  const { directory } = createRepository(t)
  const created = await berth('create', 'shop-cli', '--repo', directory, '--branch', 'main', '--no-deploy')
  assert.match(created.stderr, /^ {3}pushes to main are deployed; berth update shop-cli --auto-deploy off /m)
  await until('the failure', async () => {
    const { stdout } = await berth('show', 'shop-cli')
    return /^auto deploy +failing since \S+ ago: the branch main is not in /m.test(stdout)
  })
  await berth(
    'update',
    'shop-cli',
    '--auto-deploy',
    'off',
    '--watch-path',
    'api/**',
    '--watch-path',
    '*.md',
    '--poll',
    '1m',
  )
  const { stdout } = await berth('show', 'shop-cli')
  assert.match(stdout, /^auto deploy +off: berth update shop-cli --auto-deploy on deploys each push$/m)
  assert.match(stdout, /^watch paths +api\/\*\*, \*\.md$/m)
  assert.match(stdout, /^poll +1m$/m)
  const refused = await berth('update', 'shop-cli', '--watch-path', 'api,lib')
  assert.match(refused.stderr, /'api,lib' has a comma: each path is an item of its own/)

  const { name, first, deploy, look, decided, push } = await openShop(t)
  const head = push('Docs [skip deploy]', { 'www/a.md': 'a' })
  await look()
  await decided(head)
  const shown = (await berth('show', name)).stdout
  assert.match(shown, /^auto deploy +on: pushes to main$/m)
  assert.match(shown, /^last push +[0-9a-f]{7}, .+: not deployed, its message asks for no deploy$/m)
  await deploy(await pageApp('two'))
  const back = await berth('rollback', name, first.id)
  assert.match(back.stderr, new RegExp(`paused; berth update ${name} --auto-deploy on resumes them`))
})

test('a force push backwards is deployed', async (t) => {
  const { name, repository, look, decided, push } = await openShop(t)
  const first = repository.git('rev-parse', 'HEAD')
  const head = push('Two', { 'www/index.html': 'two' })
  await look()
  await finishedDeploy(suite.api, (await decided(head)).deploy_id)

  repository.git('reset', '--hard', '--quiet', first)
  await look()

  await finishedDeploy(suite.api, (await decided(first)).deploy_id)
  assert.equal(await fetchPage(suite.api, name), 'one')
})

test('a deleted branch is named, and watched again when it is back', async (t) => {
  const { repository, read, look, decided, push } = await openShop(t)
  await look()
  await decided(repository.git('rev-parse', 'HEAD'))
  repository.git('branch', '--move', 'main', 'trunk')
  await look()
  const { reason, since } = await until('the failure', async () => {
    const { auto_deploys } = await read()
    return auto_deploys.status === 'failing' && auto_deploys
  })
  assert.match(
    reason,
    /^the branch main is not in .*: it was deleted or renamed; its default branch is trunk$/,
  )
  assert.ok(Date.parse(since) <= Date.now())

  repository.git('branch', '--move', 'trunk', 'main')
  const head = push('Two', { 'www/index.html': 'two' })
  await look()
  await finishedDeploy(suite.api, (await decided(head)).deploy_id)
  assert.equal((await read()).auto_deploys.status, 'watching')
})

test('a service follows a repository that is renamed at its provider', async (t) => {
  const { api } = suite
  const root = temporaryDirectory(t)
  for (const owner of ['ada', 'team']) mkdirSync(join(root, owner))
  const repository = createRepository(t, { root: join(root, 'ada'), name: 'shop.git' })
  repository.commit('First', await pageApp('one'))
  const provider = await createGitProvider(t, { root })
  provider.state.publicRepositories.push('ada/shop', 'team/store', 'eve/shop')
  const account = { provider: 'gitea', base_url: provider.url, token: provider.createToken('ada') }
  await api.post('/git/connections', account)
  const repo_url = `${provider.url}/ada/shop.git`
  const { latest_deploy } = await api.post('/services', { name: 'renamed', repo_url, branch: 'main' })
  await finishedDeploy(api, latest_deploy.id)

  renameSync(repository.directory, join(root, 'team', 'store.git'))
  provider.state.renamed.set('ada/shop', 'team/store')
  await api.call('PATCH', '/services/renamed', { poll_seconds: 1001 })
  const moved = `${provider.url}/team/store.git`
  const { actor_id } = await until('the decision at the new address', async () => {
    const { repo_url: now, auto_deploys } = await api.get('/services/renamed')
    return now === moved && auto_deploys.decision && auto_deploys
  })
  const history: Body[] = await api.get(`/actors/${actor_id}/history`)
  assert.ok(history.some(({ phase }) => phase === `follows ${moved} main`))
  assert.equal((await api.get('/services/renamed/deploys')).length, 1)

  // A server that renames it all the time is not followed each time.
  renameSync(join(root, 'team', 'store.git'), join(root, 'team', 'other.git'))
  provider.state.renamed.set('team/store', 'team/other').delete('ada/shop')
  provider.state.publicRepositories.push('team/other')
  const other = join(root, 'team', 'other.git')
  runTestGit(other, ['commit', '--quiet', '--allow-empty', '--message', 'Two'])
  const head = runTestGit(other, ['rev-parse', 'HEAD'])
  await api.call('PATCH', '/services/renamed', { poll_seconds: 1002 })
  await until('the decision about the push', async () => {
    const { auto_deploys } = await api.get('/services/renamed')
    return auto_deploys.decision?.head === head
  })
  assert.equal((await api.get('/services/renamed')).repo_url, moved)
  await api.call('DELETE', '/services/renamed')
})

test('a tag that moves is deployed, when it is asked for', async (t) => {
  const { api } = suite
  const registry = await startRegistry(t)
  const first = await registry.push('shop:v1', 'one')
  const image = `${registry.host}/shop:v1`
  const { latest_deploy } = await api.post('/services', { name: 'images', image, drain_seconds: 0 })
  await finishedDeploy(api, latest_deploy.id)
  const read = async () => (await api.get('/services/images')).auto_deploys
  assert.equal((await read()).status, 'off')
  await api.call('PATCH', '/services/images', { auto_deploy: true })
  await until('the decision', async () => (await read()).decision?.head === first)
  assert.equal((await read()).decision.deploy_id, null)

  const second = await registry.push('shop:v1', 'two')
  const quiet = { name: 'quiet', image, auto_deploy: true, deploy: false }
  await api.post('/services', quiet)
  await api.call('PATCH', '/services/images', { poll_seconds: 60 })
  await until('the decision', async () => (await read()).decision?.head === second)
  const { deploy_id, reason } = (await read()).decision
  const deploy = await finishedDeploy(api, deploy_id)

  assert.deepEqual([reason, deploy.status], ['the tag has another image', 'live'])
  assert.equal(deploy.source.image, `${image}@${second}`)
  assert.equal(await fetchPage(api, 'images'), 'two')
  await until('the look', async () => (await api.get('/services/quiet')).auto_deploys.decision)
  assert.deepEqual(await api.get('/services/quiet/deploys'), [])
  for (const name of ['images', 'quiet']) await api.call('DELETE', `/services/${name}`)
})

test('a repository that cannot be read leaves what serves alone', async (t) => {
  const { name, repository, read, look } = await openShop(t)
  renameSync(repository.directory, `${repository.directory}-away`)
  await look()
  await until('the failure', async () => (await read()).auto_deploys.status === 'failing')
  assert.equal((await read()).state, 'live')
  assert.equal(await fetchPage(suite.api, name), 'one')
})

/** A repository without a Dockerfile: its deploys end after the fetch. */
function bareRepository(t: TestContext, root: string, name: string) {
  const repository = createRepository(t, { root, name })
  repository.commit('First', { 'README.md': name })
  return repository
}

/** Resolves when its first deploy has ended, and its head was seen. */
async function followRepository(name: string, repo_url: string): Promise<void> {
  const service = { name, repo_url, branch: 'main', poll_seconds: 0 }
  const { latest_deploy } = await suite.api.post('/services', service)
  await finishedDeploy(suite.api, latest_deploy.id)
  await until('the first decision', async () => {
    return (await suite.api.get(`/services/${name}`)).auto_deploys.decision
  })
}

async function connectGitea(url: string, token: string): Promise<string> {
  return (await suite.api.post('/git/connections', { provider: 'gitea', base_url: url, token })).id
}

test('the same push through two connections and a third hook is deployed once per service', async (t) => {
  const { api } = suite
  const root = temporaryDirectory(t)
  mkdirSync(join(root, 'ada'))
  const repository = bareRepository(t, join(root, 'ada'), 'same.git')
  const provider = await createGitProvider(t, { root })
  const ada = await connectGitea(provider.url, provider.createToken('ada'))
  const grace = await connectGitea(provider.url, provider.createToken('grace', { groups: ['ada'] }))
  const names = ['same-one', 'same-two']
  const repo_url = `${provider.url}/ada/same.git`
  for (const name of names) await followRepository(name, repo_url)

  const head = repository.commit('Next', { 'README.md': 'next' })
  const push = { repo_url, after: head }
  const answers = await Promise.all([
    deliver(ada, { ...push, id: 'by-ada' }),
    deliver(grace, { ...push, id: 'by-grace' }),
    deliver(ada, { ...push, id: 'by-hand' }, ''),
  ])

  assert.deepEqual(
    answers.map(({ body }) => body.result),
    ['accepted', 'accepted', 'accepted'],
  )
  for (const name of names) {
    const decided: Body[] = await until('the decisions', async () => {
      const deliveries: Body[] = await api.get(`/services/${name}/deliveries`)
      return deliveries.every(({ decided_at }) => decided_at !== null) && deliveries
    })
    const deploys: Body[] = await api.get(`/services/${name}/deploys`)
    assert.deepEqual(
      decided.map(({ deploy_id }) => deploy_id),
      Array(3).fill(deploys[0]!.id),
    )
    assert.equal(deploys.length, 2)
    assert.equal((await finishedDeploy(api, deploys[0]!.id)).commit_sha, head)
    await api.call('DELETE', `/services/${name}`)
  }
})

test('a delivery is answered before its service has looked, also if its git server hangs', async (t) => {
  const { api } = suite
  const root = temporaryDirectory(t)
  const repository = bareRepository(t, root, 'slow')
  const held: (() => void)[] = []
  let mode: 'served' | 'held' | 'refused' = 'served'
  const { url } = await createGitServer(t, {
    root,
    intercept(_, response) {
      const refuse = () => response.writeHead(503).end()
      if (mode === 'held') held.push(refuse)
      if (mode === 'refused') refuse()
      return mode !== 'served'
    },
  })
  const provider = await createGitProvider(t)
  const connection = await connectGitea(provider.url, provider.createToken('ada'))
  await followRepository('slow', `${url}/slow`)

  mode = 'held'
  const after = repository.commit('Next', { 'README.md': 'next' })
  const { body } = await deliver(connection, { repo_url: `${url}/slow`, after, id: 'hanging' })
  const delivery = async () => (await api.get('/services/slow/deliveries'))[0] as Body
  await until('the look', async () => held.length > 0)
  assert.equal(body.result, 'accepted')
  assert.equal((await delivery()).decided_at, null)

  mode = 'refused'
  for (const release of held) release()
  const { reason } = await until('the decision', async () => (await delivery()).decided_at && delivery())
  assert.match(reason, /503/)
  await api.call('DELETE', '/services/slow')
})

test('after a restart each service looks at its repository once', async (t) => {
  const root = temporaryDirectory(t)
  const names = ['restarted-1', 'restarted-2', 'restarted-3']
  for (const name of names) bareRepository(t, root, name)
  const { url, requests } = await createGitServer(t, { root })
  for (const name of names) await followRepository(name, `${url}/${name}`)
  const provider = await createGitProvider(t)
  const connection = await connectGitea(provider.url, provider.createToken('ada'))

  await suite.daemon.kill()
  requests.length = 0
  await suite.daemon.start()

  const looks = () =>
    names.map((name) => requests.filter(({ path }) => path.startsWith(`/${name}/info/refs`)).length)
  await until('the looks', async () => looks().every((count) => count > 0))
  // The look for a delivery comes after all that the start led to.
  for (const name of names) {
    await deliver(connection, { repo_url: `${url}/${name}`, after: '1'.repeat(40), id: name })
    await until('the answer', async () => {
      const [delivery] = await suite.api.get(`/services/${name}/deliveries`)
      return delivery.decided_at
    })
  }
  assert.deepEqual(looks(), [2, 2, 2])
  for (const name of names) await suite.api.call('DELETE', `/services/${name}`)
})
