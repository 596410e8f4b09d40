// What differs between deploys, over HTTP and a real store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deploy } from '../../../src/api/deploy.ts'
import { startVersions as start } from '../../support/http/versions-api.ts'

const [shaOne, shaTwo] = ['1'.repeat(40), '2'.repeat(40)]
const same = { added: [], changed: [], removed: [] }

test('two deploys differ in commit, settings and variables, by key and without a value', async (t) => {
  const { call, deployed, setEnv, diff } = await start(t)
  await setEnv({ KEPT: 'kept', OLD: 'old', SECRET: 'first-canary' })
  const one = await deployed({ commit_sha: shaOne })
  await setEnv({ NEW: 'new', SECRET: 'second-canary' }, ['OLD'])
  await call('PATCH', '/services/web', { dockerfile_path: 'deploy/Dockerfile', instances: 3, port: 8080 })
  const two = await deployed({ commit_sha: shaTwo })

  const forward = await diff(two, one)
  const back = await diff(one)

  assert.deepEqual(forward, {
    against: one,
    complete: true,
    obstacle: null,
    commit: {
      from: shaOne,
      to: shaTwo,
      compare_url: `https://github.com/owner/name/compare/${shaOne}...${shaTwo}`,
    },
    image: null,
    settings: [
      { field: 'dockerfile_path', from: null, to: 'deploy/Dockerfile' },
      { field: 'port', from: null, to: 8080 },
    ],
    env: { added: ['NEW'], changed: ['SECRET'], removed: ['OLD'] },
  })
  assert.deepEqual([back.against, back.env], [two, { added: ['OLD'], changed: ['SECRET'], removed: ['NEW'] }])
  assert.doesNotMatch(JSON.stringify([forward, back]), /canary/)
})

test('what is saved but not live is found, also build settings that a restart did not apply', async (t) => {
  const { call, deployed, setEnv, diff } = await start(t)
  const built = await deployed()
  assert.deepEqual((await diff(built, 'saved')).settings, [])
  await call('PATCH', '/services/web', { build_args: { A: '1' }, start_command: 'serve' })
  await setEnv({ KEY: 'value' })
  const source = { kind: 'reuse', deploy_id: built } as Deploy['source']
  const restarted = await deployed({ trigger: 'restart', source, image: `berth/web:${built}` })
  await setEnv({ KEY: 'another' })

  const { against, settings, env } = await diff(restarted, 'saved')

  assert.equal(against, 'saved')
  assert.deepEqual(settings, [{ field: 'build_args', from: { A: '1' }, to: {} }])
  assert.deepEqual(env, { ...same, changed: ['KEY'] })
})

test('without a live deploy, or with a release that is gone, nothing counts as compared', async (t) => {
  const { call, storage, deployed, diff } = await start(t)
  const queued = (await call('POST', '/services/web/deploys')).body.id as string
  const alone = await diff(queued)
  const live = await deployed()
  await storage.releases.remove(live)
  const gone = await diff(queued)

  assert.deepEqual([alone.against, alone.complete, alone.obstacle?.code], [null, false, 'never_live'])
  assert.deepEqual([gone.against, gone.complete, gone.env], [live, false, same])
  assert.equal((await diff(live)).obstacle?.code, 'image_removed')
})

test('a rollback that the service refuses is named before it is tried', async (t) => {
  const { call, deployed, diff } = await start(t)
  const gone = await deployed({ image: 'berth/web-gone', commit_sha: shaOne })
  const missing = (await diff(gone)).obstacle
  const there = await deployed()
  await call('POST', '/services/web/suspend', {})
  const suspended = (await diff(there)).obstacle

  assert.deepEqual([missing?.code, missing?.hint], ['image_missing', 'berth deploy web --commit 1111111'])
  assert.deepEqual([suspended?.code, suspended?.hint], ['suspended', 'berth resume web first'])
})

test('a deploy of another service is unknown', async (t) => {
  const { call, create, deployed } = await start(t)
  const id = await deployed()
  const other = (await create({ name: 'api', image: 'localhost/app:1' })).latest_deploy!.id
  const statusOf = async (against: string) =>
    (await call('GET', `/deploys/${id}/diff?against=${against}`)).status

  assert.deepEqual([await statusOf(other), await statusOf(`dep-${'0'.repeat(26)}`)], [404, 404])
  assert.equal(await statusOf('yesterday'), 400)
})
