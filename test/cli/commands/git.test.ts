// `berth git`: connecting accounts, and what they may read.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { GitConnection } from '../../../src/api/git-connection.ts'
import { runBerth } from '../../support/cli/berth.ts'
import { createGitProvider } from '../../support/git/git-provider.ts'
import { token as apiToken, startApi } from '../../support/http/http-context.ts'

async function start(t: TestContext) {
  const [api, provider] = [await startApi(t), await createGitProvider(t)]
  const env = { BERTH_SERVER: api.url, BERTH_TOKEN: apiToken }
  const berth = (args: string[], input = '') => runBerth(t, args, { env, input })
  const connect = (login: string, name = 'gitea') =>
    berth(['git', 'connect', name, '--with-token', '--base-url', provider.url], provider.createToken(login))
  return { api, provider, berth, connect }
}

test('connect reads a token from a pipe, and names the next step', async (t) => {
  const { provider, connect } = await start(t)
  const { code, stdout, stderr } = await connect('ada')
  assert.equal(code, 0, stderr)
  assert.equal(stdout, '')
  assert.match(stderr, new RegExp(`✔ ada at ${provider.url} is connected\n +next: berth git repos ada\n`))
})

test('ls shows each account with its state and the services that use it', async (t) => {
  const { api, provider, berth, connect } = await start(t)
  assert.match((await berth(['git', 'ls'])).stderr, /no accounts yet: berth git connect github/)
  await connect('ada')
  const repo_url = `${provider.url}/ada/shop.git`
  const create = { name: 'shop', type: 'web_service', repo_url, deploy: false }
  await api.call('POST', '/api/v1/services', { body: create })
  const redirect_uri = 'https://berth.example.com/git/callback'
  const started = { provider: 'github', base_url: provider.url, redirect_uri }
  await api.call('POST', '/api/v1/git/authorize', { body: started })

  const { stdout, stderr } = await berth(['git'])

  const [heading, pending, connected] = stdout.split('\n')
  assert.match(heading!, /^ID +ACCOUNT +AT +STATUS +SERVICES +AUTHORIZED$/)
  assert.match(pending!, /^git-\w+ +http:\S+ +registering$/)
  assert.match(connected!, /^git-\w+ +ada +http:\S+ +connected +shop +just now$/)
  assert.match(stderr, /next: berth git connect --resume git-\w+/)
})

test('repos lists the repositories of the only account, and asks which of several', async (t) => {
  const { berth, connect } = await start(t)
  const none = await berth(['git', 'repos'])
  assert.deepEqual([none.code, /there is no such git connection/.test(none.stderr)], [1, true], none.stderr)
  await connect('ada')
  const { stdout } = await berth(['git', 'repos'])
  assert.match(stdout, /^REPOSITORY +UPDATED +ADDRESS\nada\/repo-0 .* private +http:\S+\/ada\/repo-0\.git\n/)
  await connect('grace')
  const unclear = await berth(['git', 'repos'])
  assert.equal(unclear.code, 2)
  assert.match(unclear.stderr, /which account\?\n +name one of these ids: git-\w+, git-\w+/)
  assert.match((await berth(['git', 'repos', 'GRACE'])).stdout, /grace\/repo-0/)
})

test('hook shows what to enter at the provider, with the names of its events', async (t) => {
  const { api, berth, connect } = await start(t)
  for (const name of ['github', 'gitlab', 'gitea']) await connect('ada', name)
  const connections = (await api.call('GET', '/api/v1/git/connections')).body as unknown as GitConnection[]
  const idAt = (name: string) => connections.find(({ provider }) => provider === name)!.id
  assert.match((await berth(['git', 'hook', idAt('gitlab')])).stderr, /no provider can reach this server/)
  api.context.config.edge.dashboardHost = 'berth.example.com'
  const shown = async (name: string) => {
    const { stdout } = await berth(['git', 'hook', idAt(name)])
    assert.match(stdout, new RegExp(`https://berth.example.com/api/v1/hooks/${name}[?]connection=git-`))
    return [/^events +(.+)$/m, /^check events +(.+); only for /m].map((line) => line.exec(stdout)?.[1])
  }
  assert.deepEqual(await shown('github'), ['Pushes', 'Check suites, Statuses'])
  assert.deepEqual(await shown('gitlab'), ['Push events, Tag push events', 'Pipeline events'])
  assert.deepEqual(await shown('gitea'), ['Push', 'Statuses'])
})

test('rm deletes a connection that no service uses', async (t) => {
  const { berth, connect } = await start(t)
  await connect('ada')
  const { code, stderr } = await berth(['git', 'rm', 'ada'])
  assert.deepEqual([code, stderr], [0, ' ✔ the connection of ada is deleted\n'])
  assert.match((await berth(['git', 'ls'])).stderr, /no accounts yet/)
})

test('wrong usage ends with 2 before any request, and a refused token with its reason', async (t) => {
  const { provider, berth } = await start(t)
  const unknown = await berth(['git', 'connect', 'bitbucket', '--with-token'], 'a-token')
  assert.deepEqual([unknown.code, /github, gitlab, gitea/.test(unknown.stderr)], [2, true], unknown.stderr)
  assert.equal((await berth(['git', 'connect', '--with-token'], 'a-token')).code, 2)
  assert.deepEqual(provider.requests, [])
  const refused = await berth(
    ['git', 'connect', 'gitlab', '--with-token', '--base-url', provider.url],
    'a-token',
  )
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /GitLab at 127\.0\.0\.1:\d+ responded with 401: 401 Unauthorized/)
})
