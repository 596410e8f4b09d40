// `berth git redeliver`: deploys what a push named.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { HookDelivery } from '../../../storage/hook-deliveries.ts'
import { runBerth } from '../../support/cli/berth.ts'
import { token as apiToken, startApi } from '../../support/http/http-context.ts'

const head = '1'.repeat(40)

async function start(t: TestContext) {
  const api = await startApi(t)
  const createService = async (name: string) => {
    const body = { name, repo_url: 'https://git.example.com/ada/shop', branch: 'main', deploy: false }
    return (await api.call('POST', '/api/v1/services', { body })).body.id as string
  }
  const env = { BERTH_SERVER: api.url, BERTH_TOKEN: apiToken }
  return { ...api, createService, berth: (...args: string[]) => runBerth(t, ['git', ...args], { env }) }
}

function pushOf(decisions: HookDelivery['decisions']): HookDelivery {
  return {
    id: 'dlv-01jd2x9v6m3q8w4k7r5t1y0z2a',
    provider: 'gitea',
    connection_id: 'git-1',
    delivery_id: 'd-1',
    event: 'push',
    repository: 'git.example.com/ada/shop',
    ref: 'refs/heads/main',
    before: '0'.repeat(40),
    after: head,
    received_at: new Date().toISOString(),
    refusal: null,
    decisions,
  }
}

test('redeliver deploys the head of a delivery', async (t) => {
  const { storage, createService, berth, call } = await start(t)
  const { id } = pushOf({})
  await storage.hookDeliveries.keep(pushOf({ [await createService('shop')]: null }))

  const { code, stdout, stderr } = await berth('redeliver', id, 'shop', '--no-follow')

  assert.equal(code, 0, stderr)
  assert.match(stdout, /^dep-\w+\n$/)
  const deploy = await call('GET', `/api/v1/deploys/${stdout.trim()}`)
  assert.deepEqual(deploy.body.source, { ...(deploy.body.source as object), kind: 'git', commit: head })
  assert.equal((await berth('redeliver', id, '--no-follow')).code, 2)
  assert.equal((await berth('redeliver', 'dlv-none', 'shop')).code, 3)
})
