// `berth deploy-key`: the public half on stdout, and what to do with it on stderr.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { runBerth } from '../../support/cli/berth.ts'
import { token as apiToken, startApi } from '../../support/http/http-context.ts'

async function start(t: TestContext, repo_url = 'git@git.example.com:ada/shop.git') {
  const api = await startApi(t)
  await api.call('POST', '/api/v1/services', { body: { name: 'shop', repo_url, deploy: false } })
  const env = { BERTH_SERVER: api.url, BERTH_TOKEN: apiToken }
  return { ...api, berth: (...args: string[]) => runBerth(t, ['deploy-key', 'shop', ...args], { env }) }
}

test('the public half can be piped, and where to enter it is said next to it', async (t) => {
  const { berth } = await start(t)

  const { code, stdout, stderr } = await berth()

  assert.equal(code, 0, stderr)
  assert.match(stdout, /^ssh-ed25519 \S+ berth-shop\n$/)
  assert.match(stderr, /^ {3}SHA256:\S+\n.*\n +GitHub: Settings, Deploy keys, Add deploy key\n/)
  assert.doesNotMatch(stderr, /it is used for ssh addresses/)
  assert.equal((await berth()).stdout, stdout)
})

test('--rotate, --forget-host and --rm change the key, one at a time', async (t) => {
  const { berth, storage } = await start(t)
  const { id } = storage.services.get('shop')!
  const first = (await berth()).stdout
  const pin = { host: 'git.example.com', type: 'ssh-rsa', key: 'YQ==', pinnedAt: new Date().toISOString() }
  await storage.deployKeys.pin(id, [pin])
  assert.match((await berth()).stderr, /git\.example\.com has the key ssh-rsa SHA256:\S+, pinned just now/)

  assert.notEqual((await berth('--rotate')).stdout, first)
  const forgotten = await berth('--forget-host')
  assert.match(forgotten.stderr, /✔ the next key of the git server of shop is accepted and pinned/)
  assert.deepEqual(storage.deployKeys.get(id)!.hosts, [])
  assert.equal((await berth('--rotate', '--rm')).code, 2)
  assert.equal((await berth('--rm')).code, 0)
  assert.equal(storage.deployKeys.get(id), null)
  assert.equal((await berth('--rm')).code, 3)
})

test('the key of a service that is read over https comes with the way to an ssh address', async (t) => {
  const { berth } = await start(t, 'https://git.example.com/ada/shop.git')
  const { stderr } = await berth()
  assert.match(stderr, /berth update shop --repo git@HOST:OWNER\/NAME\.git\n$/)
})
