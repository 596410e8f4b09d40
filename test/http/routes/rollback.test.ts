// Going back to a former deploy, over HTTP and a real store: what can run again, and what is refused before
// anything starts.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Deploy } from '../../../src/api/deploy.ts'
import { startChecked } from '../../support/http/checked-api.ts'
import { serviceRow } from '../../support/storage/store-fixtures.ts'

/** A service whose first deploy was live once and can run again, and whose second one is live. */
async function serviceWithPast(t: TestContext) {
  const api = await startChecked(t)
  const { id } = await api.create({ name: 'web', repo_url: 'https://git.test/owner/name' })
  const first = (await api.get('web')).latest_deploy!.id
  await api.setDeploy(first, { status: 'deactivated', image: 'berth/web:first', commit_sha: 'a'.repeat(40) })
  await api.storage.releases.freeze(first, () => ({ settings: serviceRow(), env: [], resolved: null }))
  const second = (await api.call('POST', '/services/web/deploys', {})).body.id as string
  await api.setDeploy(second, { status: 'live', image: 'berth/web:second' })
  return { ...api, serviceId: id, first, second }
}

test('a rollback is queued as a deploy with the image of the previous one', async (t) => {
  const { call, first } = await serviceWithPast(t)

  const { status, body } = await call('POST', '/services/web/rollback', { deploy_id: first })
  const queued = body as Deploy

  assert.equal(status, 202)
  assert.deepEqual([queued.status, queued.trigger], ['queued', 'rollback'])
  const { kind, deploy_id, repo_url } = queued.source
  assert.deepEqual([kind, deploy_id, repo_url], ['reuse', first, 'https://git.test/owner/name'])
})

test('a rollback with an Idempotency-Key is queued once', async (t) => {
  const { call, first } = await serviceWithPast(t)
  const headers = { 'idempotency-key': 'back' }
  const ask = () => call('POST', '/services/web/rollback', { deploy_id: first }, { headers })

  assert.equal((await ask()).body.id, (await ask()).body.id)
  assert.equal((await call('GET', '/services/web/deploys')).body.length, 3)
})

test('an unknown deploy is 404; one that was never live, or of another service, is 400', async (t) => {
  const { call, create, get, first, refused, setDeploy } = await serviceWithPast(t)
  await create({ name: 'api', repo_url: 'https://git.test/owner/api' })
  const foreign = (await get('api')).latest_deploy!.id
  const back = (deploy_id: string) => refused('POST', '/services/web/rollback', { deploy_id })

  assert.deepEqual(await back(`dep-${'0'.repeat(26)}`), [404, 'not_found'])
  assert.deepEqual(await back('web'), [404, 'not_found'])
  assert.deepEqual(await back(foreign), [400, 'invalid_request', 'deploy_id invalid'])
  for (const status of ['queued', 'running', 'failed', 'canceled'] as const) {
    await setDeploy(first, { status })
    const { body } = await call('POST', '/services/web/rollback', { deploy_id: first })
    assert.deepEqual([body.status, body.detail], [400, 'deploy_id: was never live'])
  }
})

test('a missing image is refused, and the response distinguishes retention from removal', async (t) => {
  const { call, first, storage, setDeploy } = await serviceWithPast(t)
  const back = async () => (await call('POST', '/services/web/rollback', { deploy_id: first })).body
  const rebuild = 'berth deploy web --commit aaaaaaa'

  await setDeploy(first, { image: 'berth/web:first-gone' })
  const removed = await back()
  await storage.releases.remove(first)
  const pruned = await back()
  await call('PATCH', '/services/web', { repo_url: 'https://git.test/owner/other' })
  const moved = await back()

  assert.match(String(removed.detail), /it was removed from Docker/)
  assert.match(String(pruned.detail), /the newest 5 of a service are kept \(--keep-images\)/)
  assert.deepEqual([removed.hint, pruned.hint, moved.hint], [rebuild, rebuild, undefined])
})

test('a suspended service is not rolled back', async (t) => {
  const { call, first, refused } = await serviceWithPast(t)
  await call('POST', '/services/web/suspend', {})

  assert.deepEqual(await refused('POST', '/services/web/rollback', { deploy_id: first }), [409, 'conflict'])
})
