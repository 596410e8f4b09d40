// Submodules of private repositories: the credentials of a service read those of the repository's owner, and
// those of other owners only if the service names them. Tokens of an app are for one repository each.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Api, Body } from '../support/daemon/api.ts'
import { startDaemon } from '../support/daemon/daemon.ts'
import { finishedDeploy, logLines } from '../support/daemon/service.ts'
import { createGitProvider, type FakeProvider } from '../support/git/git-provider.ts'
import { createRepository } from '../support/git/repository.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const redirect_uri = 'https://berth.example.com/git/callback'

/** ada/shop with the submodule ada/lib, and on the branch `foreign` also with team/secret. */
async function openForge(t: TestContext) {
  const root = temporaryDirectory(t)
  const create = (owner: string, name: string) => {
    mkdirSync(join(root, owner), { recursive: true })
    return createRepository(t, { root: join(root, owner), name: `${name}.git` })
  }
  const [shop, lib, secret] = [create('ada', 'shop'), create('ada', 'lib'), create('team', 'secret')]
  const forge = await createGitProvider(t, { root })
  const commits = [lib, secret].map((repository) => repository.commit('First', { 'file.txt': 'content' }))
  shop.commit('First', { 'README.md': 'the shop' })
  shop.submodule('lib', '../lib.git', commits[0]!)
  shop.branch('foreign')
  shop.checkout('foreign')
  shop.submodule('secret', `${forge.url}/team/secret.git`, commits[1]!)
  shop.checkout('main')
  return { forge, repoUrl: `${forge.url}/ada/shop.git` }
}

/** It ends after the fetch, because there is no Dockerfile. */
async function deploy(api: Api): Promise<{ code: string; deploy: Body; log: string }> {
  const { id } = await api.post('/services/shop/deploys')
  const finished = await finishedDeploy(api, id)
  return { code: finished.error_code, deploy: finished, log: (await logLines(api, id)).join('\n') }
}

const create = (api: Api, repo_url: string, branch: string) =>
  api.post('/services', { name: 'shop', type: 'private_service', repo_url, branch, deploy: false })

const requestsFor = ({ requests }: FakeProvider, path: string) =>
  requests.filter((request) => request.path.startsWith(path) && request.authorization !== '')

test('a submodule of another owner gets the credentials only if the service names him', async (t) => {
  const { forge, repoUrl } = await openForge(t)
  const { api } = await startDaemon(t)
  const token = forge.createToken('ada', { groups: ['team'] })
  await api.post('/git/connections', { provider: 'gitlab', base_url: forge.url, token })
  await create(api, repoUrl, 'foreign')

  const denied = await deploy(api)

  assert.equal(denied.code, 'git_remote_unreachable', denied.log)
  assert.match(denied.deploy.error, /the credentials of this service are not used for repositories of team$/)
  assert.match(denied.deploy.hint, /berth update shop --submodule-owner team, then: berth deploy shop/)
  assert.equal(requestsFor(forge, '/ada/lib.git/').length > 0, true)
  assert.deepEqual(requestsFor(forge, '/team/secret.git/'), [])

  await api.call('PATCH', '/services/shop', { submodule_owners: ['Team'] })
  assert.deepEqual((await api.get('/services/shop')).submodule_owners, ['team'])
  const allowed = await deploy(api)
  assert.equal(allowed.code, 'recipe_not_found', allowed.log)
  assert.equal(requestsFor(forge, '/team/secret.git/').length > 0, true)
})

test("credentials in the service's own URL follow the same rule", async (t) => {
  const { forge, repoUrl } = await openForge(t)
  const { api } = await startDaemon(t)
  const own = repoUrl.replace('://', `://oauth2:${forge.createToken('ada')}@`)
  await create(api, own, 'foreign')

  const denied = await deploy(api)

  assert.equal(denied.deploy.error_details.owner, 'team', denied.log)
  assert.deepEqual(requestsFor(forge, '/team/secret.git/'), [])
})

test('an app gets a token for each repository, and none for those of others', async (t) => {
  const { forge, repoUrl } = await openForge(t)
  const { api } = await startDaemon(t)
  const started = await api.post('/git/authorize', {
    provider: 'github',
    base_url: forge.url,
    redirect_uri,
  })
  const code = forge.registerApp(started.fields.manifest, 'ada')
  const stateOf = (url: string) => new URL(url).searchParams.get('state')
  const registered = await api.post('/git/callback', { code, state: stateOf(started.url) })
  const installation_id = String(forge.installApp(JSON.parse(started.fields.manifest).name, 'ada'))
  await api.post('/git/callback', { state: stateOf(registered.url), installation_id })
  await create(api, repoUrl, 'main')

  const cloned = await deploy(api)

  assert.equal(cloned.code, 'recipe_not_found', cloned.log)
  const narrowed = forge.requests
    .filter(({ path }) => path.endsWith('/access_tokens'))
    .map(({ body }) => JSON.parse(body).repositories)
  assert.deepEqual(narrowed, [['shop'], ['lib']])
  const tokens = ['shop', 'lib'].map((name) => requestsFor(forge, `/ada/${name}.git/`)[0]!.authorization)
  assert.notEqual(tokens[0], tokens[1])

  await api.call('PATCH', '/services/shop', { branch: 'foreign', submodule_owners: ['team'] })
  const foreign = await deploy(api)
  assert.equal(foreign.code, 'git_remote_unreachable', foreign.log)
  assert.deepEqual(requestsFor(forge, '/team/secret.git/'), [])
})
