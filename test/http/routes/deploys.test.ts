// Deploys and idempotency, over HTTP and a real store.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Deploy } from '../../../src/api/deploy.ts'
import { startChecked } from '../../support/http/checked-api.ts'
import { type RequestOptions, startApi } from '../../support/http/http-context.ts'
import { checkAnswer } from '../../support/http/openapi.ts'
import { serviceRow } from '../../support/storage/store-fixtures.ts'

async function start(t: TestContext) {
  const api = await startApi(t)
  const call = async (method: string, path: string, requested: RequestOptions = {}) => {
    const response = await api.call(method, `/api/v1${path}`, requested)
    checkAnswer(method, `/api/v1${path}`, response.status, response.body)
    return response
  }
  const body = { name: 'web', repo_url: 'https://git.test/a/b', deploy: false }
  const service = (await call('POST', '/services', { body })).body as { id: string }
  const deploy = async (asked: RequestOptions = {}) =>
    (await call('POST', '/services/web/deploys', asked)).body as Deploy
  const list = async (query = '') =>
    ((await call('GET', `/services/web/deploys${query}`)).body as unknown as Deploy[]).map(({ id }) => id)
  return { ...api, call, service, deploy, list }
}

test('a deploy is requested with or without a body, and returns 202', async (t) => {
  const { call, service } = await start(t)

  const bare = await call('POST', '/services/web/deploys')
  const full = await call('POST', '/services/web/deploys', { body: { commit: ' 0AB1 ', clear_cache: true } })

  assert.equal(bare.status, 202)
  assert.deepEqual(
    [bare.body.status, bare.body.trigger, bare.body.service_id],
    ['queued', 'manual', service.id],
  )
  assert.deepEqual((full.body.source as Deploy['source']).commit, '0AB1')
  assert.deepEqual((await call('GET', `/deploys/${full.body.id}`)).body, full.body)
})

test('a deploy without a source, of a suspended service or of an invalid commit is refused', async (t) => {
  const { call } = await start(t)
  await call('POST', '/services', { body: { name: 'empty' } })
  const codeOf = async (path: string, requested: RequestOptions = {}) =>
    (await call('POST', path, requested)).body.code

  assert.equal(await codeOf('/services/empty/deploys'), 'conflict')
  assert.equal(await codeOf('/services/web/deploys', { body: { commit: 'HEAD~1' } }), 'invalid_request')
  assert.equal(await codeOf('/services/web/deploys', { body: { ref: 'main' } }), 'invalid_request')
  await call('POST', '/services/web/suspend')
  const { status, body } = await call('POST', '/services/web/deploys')
  assert.deepEqual([status, body.code, body.hint], [409, 'conflict', 'berth resume web first'])
  assert.equal(await codeOf('/services/web/restart'), 'conflict')
  assert.equal(await codeOf('/services/nobody/deploys'), 'not_found')
})

test('the list is newest first, and its limit is capped', async (t) => {
  const { call, deploy, list } = await start(t)
  const ids = []
  for (let count = 0; count < 22; count++) ids.unshift((await deploy()).id)

  assert.deepEqual(await list(), ids.slice(0, 20))
  assert.deepEqual(await list('?limit=9999'), ids)
  assert.deepEqual(await list('?limit=0'), ids.slice(0, 1))
  assert.deepEqual(await list('?limit=-3'), ids.slice(0, 1))
  assert.equal((await call('GET', '/services/web/deploys?limit=many')).status, 400)
})

test('a deploy is canceled once, and the record names the requester', async (t) => {
  const { call, deploy } = await start(t)
  const { id } = await deploy()

  const first = await call('POST', `/deploys/${id}/cancel`)
  const second = await call('POST', `/deploys/${id}/cancel`)

  assert.deepEqual(
    [first.status, first.body.status, first.body.error],
    [200, 'canceled', 'canceled by the server token'],
  )
  assert.deepEqual([second.status, second.body.code], [409, 'not_cancelable'])
})

test('the history has every transition', async (t) => {
  const { call, deploy } = await start(t)
  const { id } = await deploy()
  await call('POST', `/deploys/${id}/cancel`)

  const { body } = await call('GET', `/deploys/${id}/history`)

  assert.deepEqual(
    (body as unknown as { status: string }[]).map(({ status }) => status),
    ['queued', 'canceled'],
  )
})

test('a restart returns a queued deploy, needs a live or active one, and accepts no commit', async (t) => {
  const { call, deploy, setDeploy } = await start(t)
  const restart = () => call('POST', '/services/web/restart')

  assert.equal((await restart()).body.code, 'conflict', 'nothing to restart')
  const queued = await deploy()
  assert.deepEqual([(await restart()).status, (await restart()).body.id], [202, queued.id])
  await setDeploy(queued.id, { status: 'live' })
  const { body } = await restart()
  assert.deepEqual([body.trigger, body.status], ['restart', 'queued'])
  const source = { kind: 'reuse', repo_url: null, branch: null, commit: null, image: null, deploy_id: null }
  assert.deepEqual(body.source, source)
})

const keyed = (key: string, body?: unknown): RequestOptions => ({
  headers: { 'idempotency-key': key },
  ...(body ? { body } : {}),
})

test('a repeated key returns the first response and queues nothing', async (t) => {
  const { call, list, setDeploy } = await start(t)

  const first = await call('POST', '/services/web/deploys', keyed('k'))
  await setDeploy(first.body.id as string, { status: 'running' })
  const again = await call('POST', '/services/web/deploys', keyed('k'))
  const other = await call('POST', '/services/web/deploys', keyed('other'))

  assert.deepEqual([again.status, again.body], [202, first.body])
  const replayed = [first, again].map(({ headers }) => headers.get('idempotency-replayed'))
  assert.deepEqual(replayed, [null, 'true'])
  assert.deepEqual(await list(), [other.body.id, first.body.id])
})

test('a different request with a used key is rejected, valid or not', async (t) => {
  const { call } = await start(t)
  const requested = { name: 'api', deploy: false }
  const create = (body: unknown, query = '') => call('POST', `/services${query}`, keyed('k', body))

  const first = await create(requested)
  const others = [await create({ ...requested, name: 'shop' }), await create({ nmae: 'api' })]
  const again = await create(requested)

  for (const { status, body } of others) assert.deepEqual([status, body.code], [409, 'conflict'])
  assert.match(String(others[0]!.body.hint), /new key/)
  assert.equal((await create('{')).status, 400)
  assert.equal((await create(requested, '?x=1')).status, 400)
  assert.deepEqual([again.status, again.body], [201, first.body])
  assert.equal((await call('GET', '/services/shop')).status, 404)
})

test('a different request with a key is rejected while the first one runs', async (t) => {
  const { call } = await start(t)
  const create = (name: string) => call('POST', '/services', keyed('k', { name, deploy: false }))

  const responses = await Promise.all(['api', 'shop', 'api', 'shop'].map(create))

  const [done, refused] = [201, 409].map((code) => responses.filter(({ status }) => status === code))
  assert.deepEqual([done!.length, refused!.length], [2, 2])
  assert.deepEqual(done![0]!.body, done![1]!.body)
})

test('a stored response without its request is returned to any request with the key', async (t) => {
  const { call, storage } = await start(t)
  const scope = JSON.stringify(['server', 'POST', '/api/v1/services', 'k'])
  const key = createHash('sha256').update(scope).digest('hex')
  const { body: web } = await call('GET', '/services/web')
  await storage.events.record(key, new Date().toISOString(), web)

  const { status, body } = await call('POST', '/services', keyed('k', { name: 'api' }))

  assert.deepEqual([status, body], [201, web])
})

test('a repeated creation of a service returns the same response, with the first deploy', async (t) => {
  const { call } = await start(t)
  const requested = keyed('k', { name: 'api', repo_url: 'https://git.test/a/b' })

  const first = await call('POST', '/services', requested)
  const again = await call('POST', '/services', requested)

  assert.deepEqual([again.status, again.body], [201, first.body])
})

test('suspend is not repeated after a resume', async (t) => {
  const { call } = await start(t)

  const first = await call('POST', '/services/web/suspend', keyed('k'))
  await call('POST', '/services/web/resume')
  const again = await call('POST', '/services/web/suspend', keyed('k'))

  assert.deepEqual(again.body, first.body)
  assert.equal((await call('GET', '/services/web')).body.suspended, false)
})

test('a key belongs to one path, has a maximum length, and survives a rejected request', async (t) => {
  const { call } = await start(t)

  const refused = await call('POST', '/services/web/deploys', keyed('k', { commit: 'z z' }))
  const deploy = await call('POST', '/services/web/deploys', keyed('k'))
  const suspend = await call('POST', '/services/web/suspend', keyed('k'))
  const long = await call('POST', '/services/web/suspend', keyed('k'.repeat(201)))

  assert.deepEqual([refused.status, deploy.status, suspend.status, long.status], [400, 202, 200, 400])
})

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

/** A live service whose image was removed. */
async function serviceWithoutImage(t: TestContext) {
  const api = await startChecked(t)
  await api.create({ name: 'web', repo_url: 'https://git.test/owner/name' })
  const { id } = (await api.get('web')).latest_deploy!
  await api.setDeploy(id, { status: 'live', image: 'berth/web:dep-gone' })
  const restart = () => api.call('POST', '/services/web/restart')
  const deploy = async () => (await api.call('POST', '/services/web/deploys')).body.id as string
  return { ...api, restart, deploy }
}

test('a restart without its image is refused, with the command that builds it again', async (t) => {
  const { call, get, restart } = await serviceWithoutImage(t)
  const before = await get('web')

  const { status, body } = await restart()
  const saved = await call('PATCH', '/services/web/env?restart=true', { set: [] })

  assert.deepEqual([status, body.code], [409, 'conflict'])
  assert.match(
    String(body.detail),
    /the live image berth\/web:dep-gone no longer exists: it was removed from Docker$/,
  )
  assert.equal(body.hint, 'berth deploy web builds it again')
  assert.deepEqual([saved.status, saved.body.hint], [409, body.hint])
  assert.deepEqual((await get('web')).latest_deploy, before.latest_deploy)
})

test('a restart does not need the live image while a newer deploy is queued or active', async (t) => {
  const { restart, deploy, setDeploy } = await serviceWithoutImage(t)

  const next = await deploy()
  assert.equal((await restart()).body.id, next)
  await setDeploy(next, { status: 'running' })
  assert.deepEqual([(await restart()).status, (await restart()).body.trigger], [202, 'restart'])
})

test('a restart is queued if the existence of its image is unknown', async (t) => {
  const { context, restart } = await serviceWithoutImage(t)
  context.observe = { ...context.observe, hasImage: async () => null }

  assert.equal((await restart()).status, 202)
})
