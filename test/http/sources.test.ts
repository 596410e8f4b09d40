// What a service may be made from, over HTTP and a real store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deploy } from '../../src/api/deploy.ts'
import { startChecked } from '../support/http/checked-api.ts'

const repo_url = 'https://git.test/owner/name'

test("an image service queues a deploy with the image's normalized name", async (t) => {
  const { create } = await startChecked(t)
  const { image, latest_deploy } = await create({ name: 'web', image: 'nginx' })

  assert.equal(image, 'nginx:latest')
  assert.deepEqual(latest_deploy!.source, {
    kind: 'image',
    repo_url: null,
    branch: null,
    commit: null,
    image: 'nginx:latest',
    deploy_id: null,
  })
})

test('repository and image are mutually exclusive, and one PATCH can replace one by the other', async (t) => {
  const { call, create, refused } = await startChecked(t)
  assert.deepEqual(await refused('POST', '/services', { name: 'web', repo_url, image: 'nginx' }), [
    400,
    'invalid_request',
    'image invalid',
  ])
  await create({ name: 'web', repo_url })

  const { status, body } = await call('PATCH', '/services/web', { image: 'nginx' })
  assert.deepEqual([status, body.code], [409, 'conflict'])
  assert.equal(body.detail, 'web deploys from https://git.test/owner/name')
  assert.match(String(body.hint), /: berth update web --repo '' --image IMAGE$/)
  const moved = await call('PATCH', '/services/web', { image: 'nginx:1', repo_url: '' })
  assert.deepEqual([moved.body.image, moved.body.repo_url], ['nginx:1', null])
  assert.equal((await call('PATCH', '/services/web', { repo_url, image: '' })).body.image, null)
})

test('a commit is accepted only for services that are built from git', async (t) => {
  const { create, refused } = await startChecked(t)
  await create({ name: 'web', image: 'nginx', deploy: false })

  const response = await refused('POST', '/services/web/deploys', { commit: 'abcdef' })
  assert.deepEqual(response, [400, 'invalid_request', 'commit invalid'])
})

test('a service with neither source nor archive has nothing to deploy', async (t) => {
  const { call, create, storage } = await startChecked(t)
  const { id } = await create({ name: 'web' })
  const deploy = () => call('POST', '/services/web/deploys', {})

  assert.match(String((await deploy()).body.hint), /^berth up web uploads a folder/)
  const kept = `dep-${'0'.repeat(26)}`
  await storage.services.update(id, (row) => ({ ...row, archive_deploy_id: kept }))
  const { source } = (await deploy()).body as Deploy
  assert.deepEqual([source.kind, source.deploy_id], ['archive', kept])
})

test('a static site accepts its own settings, and none of a running service', async (t) => {
  const { call, create, refused } = await startChecked(t)
  const site = { name: 'web', type: 'static_site', repo_url }
  for (const [key, value] of Object.entries({
    start_command: 'serve',
    pre_deploy_command: 'migrate',
    disk_mount_path: '/data',
  })) {
    const response = await refused('POST', '/services', { ...site, [key]: value })
    assert.deepEqual(response, [400, 'invalid_request', `${key} invalid`])
  }
  const service = await create({ ...site, publish_dir: './dist/', spa_fallback: true, deploy: false })
  assert.deepEqual([service.publish_dir, service.spa_fallback, service.internal_host], ['dist', true, 'web'])
  // Of an image: all of it, and its WORKDIR.
  for (const publish_dir of ['/', '.', '/app/dist']) {
    const { body } = await call('PATCH', '/services/web', { publish_dir })
    assert.equal(body.publish_dir, publish_dir)
  }
})

test('settings of static sites are rejected for other types', async (t) => {
  const { refused } = await startChecked(t)
  for (const [key, value] of Object.entries({ publish_dir: 'dist', spa_fallback: true })) {
    const response = await refused('POST', '/services', { name: 'web', [key]: value })
    assert.deepEqual(response, [400, 'invalid_request', `${key} invalid`])
  }
  const climbing = { name: 'web', type: 'static_site', publish_dir: '../dist' }
  assert.deepEqual(await refused('POST', '/services', climbing), [
    400,
    'invalid_request',
    'publish_dir invalid',
  ])
})

test('build_env names variables, each once', async (t) => {
  const { create, refused } = await startChecked(t)
  const service = await create({ name: 'web', build_env: ['MODE', 'KEY'], pre_deploy_command: 'migrate' })

  assert.deepEqual([service.build_env, service.pre_deploy_command], [['MODE', 'KEY'], 'migrate'])
  for (const build_env of [['1A'], ['A', 'A'], ['A=B'], 'A']) {
    const [status] = await refused('PATCH', '/services/web', { build_env })
    assert.equal(status, 400)
  }
})

test('a build has a stage and arguments, which are replaced and cleared as a whole', async (t) => {
  const { call, create, refused } = await startChecked(t)
  const service = await create({ name: 'web', build_target: 'prod', build_args: { MODE: 'fast', EMPTY: '' } })
  assert.deepEqual([service.build_target, service.build_args], ['prod', { MODE: 'fast', EMPTY: '' }])

  const changed = await call('PATCH', '/services/web', { build_args: { KIND: 'b' }, init: false })
  assert.deepEqual([changed.body.build_args, changed.body.init], [{ KIND: 'b' }, false])
  const cleared = await call('PATCH', '/services/web', { build_target: '', build_args: {} })
  assert.deepEqual([cleared.body.build_target, cleared.body.build_args], [null, {}])
  for (const wrong of [{ build_target: '--x' }, { build_args: { '1A': '' } }, { build_args: { A: '\0' } }]) {
    assert.equal((await refused('PATCH', '/services/web', wrong))[0], 400)
  }
})

test('build arguments that decide about cache mounts are refused, also from the env', async (t) => {
  const { call, create } = await startChecked(t)
  await create({ name: 'web' })
  for (const key of ['BUILDKIT_CACHE_MOUNT_NS', 'BUILDKIT_SYNTAX']) {
    for (const wish of [{ build_args: { A: '1', [key]: 'x' } }, { build_env: ['A', key] }]) {
      const requests = [
        await call('PATCH', '/services/web', wish),
        await call('POST', '/services', { name: 'api', ...wish }),
      ]
      for (const { status, body } of requests) {
        assert.equal(status, 400)
        assert.match(JSON.stringify(body), /is a reserved build argument: (Berth sets it|a '# syntax=' line)/)
      }
    }
  }
  const other = { build_args: { BUILDKIT_INLINE_CACHE: '1' } }
  assert.equal((await call('PATCH', '/services/web', other)).status, 200)
})

test('build arguments that are too large in total are rejected, and 512 KiB are not', async (t) => {
  const { call, create, refused } = await startChecked(t)
  await create({ name: 'web' })
  // Keys of four characters: 128 arguments of 4 KiB each are 512 KiB.
  const args = (count: number, valueLength: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`A${100 + i}`, 'x'.repeat(valueLength)]))
  const full = args(128, 4092)
  const tooLarge = [400, 'invalid_request', 'build_args invalid']
  const more = { ...full, B: '' }

  assert.deepEqual(await refused('PATCH', '/services/web', { build_args: more }), tooLarge)
  assert.deepEqual(await refused('POST', '/services', { name: 'api', build_args: more }), tooLarge)
  assert.deepEqual(
    await refused('PATCH', '/services/web', { build_args: { ...full, A100: `${'x'.repeat(4091)}é` } }),
    tooLarge,
  )
  assert.equal((await call('PATCH', '/services/web', { build_args: full })).status, 200)
})

test('a detected default branch is cleared with its repository, a configured branch stays', async (t) => {
  const { call, create, storage } = await startChecked(t)
  const other = 'https://git.test/owner/other'
  const { id } = await create({ name: 'web', repo_url, deploy: false })
  const learn = () => storage.services.update(id, (row) => ({ ...row, branch: 'trunk', branch_learnt: true }))
  const change = async (body: object) => (await call('PATCH', '/services/web', body)).body.branch

  await learn()
  assert.equal(await change({ repo_url, port: 4000 }), 'trunk', 'the repository is the same')
  assert.equal(await change({ repo_url: other }), null)
  await learn()
  assert.equal(await change({ repo_url, branch: 'next' }), 'next')
  assert.equal(await change({ repo_url: other }), 'next', 'it was set')
  await learn()
  assert.equal(await change({ branch: 'trunk' }), 'trunk')
  assert.equal(await change({ repo_url }), 'trunk', 'it was set, to what it was')
  await learn()
  assert.equal(await change({ repo_url: '', image: 'nginx' }), null)
})
