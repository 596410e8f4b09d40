// `berth git delivery` and `redeliver`: what became of a push, and a deploy of what it named.
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

test('delivery shows what each service made of a push, also one that was deleted since', async (t) => {
  const { storage, createService, berth } = await start(t)
  const [web, api] = [await createService('web'), await createService('api')]
  const at = new Date().toISOString()
  const unchanged = { at, deploy_id: null, reason: 'no watched path changed' }
  const deployed = { at, deploy_id: 'dep-1', reason: 'a push' }
  const delivery = pushOf({ [web]: null, [api]: unchanged, 'svc-gone': deployed })
  await storage.hookDeliveries.keep(delivery)

  const { code, stdout, stderr } = await berth('delivery', delivery.id)

  assert.equal(code, 0, stderr)
  const [facts, table] = stdout.split('\n\n')
  assert.match(
    facts!,
    new RegExp(`^id +${delivery.id}\ncame +just now\nprovider +gitea\nits id there +d-1\n`),
  )
  assert.match(facts!, new RegExp(`\nref +refs/heads/main\n.*\nafter +${head}$`))
  assert.deepEqual(
    table!
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/ {2,}/g, ' | ')),
    [
      'SERVICE | DECIDED | DEPLOY | WHY',
      'svc-gone, deleted | just now | dep-1 | a push',
      'api | just now | no watched path changed',
      'web | not decided yet',
    ],
  )
  const { decisions, ...whole } = JSON.parse((await berth('delivery', delivery.id, '--json')).stdout)
  assert.deepEqual(
    [whole.after, whole.reason, decisions.length, decisions[1]],
    [
      head,
      null,
      3,
      { service: 'api', service_id: api, decided_at: at, deploy_id: null, reason: unchanged.reason },
    ],
  )
  assert.equal((await berth('delivery', 'dlv-none')).code, 3)
})
