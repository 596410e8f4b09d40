// What a service may be, over HTTP and a real store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startChecked } from '../../support/http/checked-api.ts'

const repo_url = 'https://git.test/owner/name'

test('names that are in use, reserved or look like ids are rejected', async (t) => {
  const { create, refused } = await startChecked(t)
  await create({ name: 'web' })

  for (const name of ['localhost', `svc-${'0'.repeat(26)}`, '', '-a', 'a-', 'a'.repeat(41), 'ä']) {
    const [status, code] = await refused('POST', '/services', { name })
    assert.deepEqual([name, status, code], [name, 400, 'invalid_request'])
  }
  assert.deepEqual(await refused('POST', '/services', { name: 'web' }), [409, 'name_taken'])
  assert.equal((await create({ name: 'a' })).name, 'a')
})

test('null means omitted', async (t) => {
  const { create } = await startChecked(t)
  assert.equal((await create({ name: 'web', image: null, schedule: null, type: null })).type, 'web_service')
})

test('a repository is deployed automatically, an image only on request', async (t) => {
  const { create, get, call } = await startChecked(t)
  const quiet = { deploy: false }
  assert.equal((await create({ name: 'web', repo_url, ...quiet })).auto_deploys.status, 'watching')
  const image = await create({ name: 'image', image: 'nginx:1.27', ...quiet })
  assert.deepEqual([image.auto_deploy, image.auto_deploys.status], [false, 'off'])
  assert.match(image.auto_deploys.reason!, /^berth update image --auto-deploy on /)
  await call('PATCH', '/services/image', { auto_deploy: true })
  assert.equal((await get('image')).auto_deploys.status, 'watching')
  await call('PATCH', '/services/web', { repo_url: '', image: 'nginx:1.27' })
  assert.equal((await get('web')).auto_deploy, false)
  const pinned = { name: 'pinned', image: `nginx@sha256:${'0'.repeat(64)}`, auto_deploy: true, ...quiet }
  assert.equal((await create(pinned)).auto_deploys.reason, 'an image with a digest never changes')
  await call('POST', '/services/image/suspend')
  assert.deepEqual((await get('image')).auto_deploys.status, 'paused')
})

test('paths to watch are checked when they are saved', async (t) => {
  const { create, refused } = await startChecked(t)
  const accepted = ['api/**', '/Dockerfile', '!api/*.md', '**/go.mod', 'a b']
  const web = await create({ name: 'web', repo_url, watch_paths: accepted, deploy: false })
  assert.deepEqual(web.watch_paths, accepted)
  const wrong = [['api/**,lib'], ['./api'], ['../api'], [''], ['!'], ['# no'], [' a'], ['a\\b'], ['!docs']]
  for (const watch_paths of [...wrong, ['[a'], ['[[:alpha:]]']]) {
    const response = await refused('PATCH', '/services/web', { watch_paths })
    assert.deepEqual(response, [400, 'invalid_request', 'watch_paths invalid'], watch_paths[0])
  }
  for (const poll_seconds of [1, 29, 86_401, -1])
    assert.equal((await refused('PATCH', '/services/web', { poll_seconds }))[0], 400)
})

test('rules over several fields apply to create, PATCH and scale', async (t) => {
  const { create, refused } = await startChecked(t)
  await create({ name: 'web', disk_mount_path: '/data' })
  await create({ name: 'worker', type: 'background_worker' })
  const single = [400, 'invalid_request', 'instances invalid']

  assert.deepEqual(
    await refused('POST', '/services', { name: 'x', disk_mount_path: '/d', instances: 2 }),
    single,
  )
  assert.deepEqual(await refused('PATCH', '/services/web', { instances: 2 }), single)
  assert.deepEqual(await refused('POST', '/services/web/scale', { instances: 2 }), single)
  const path = [400, 'invalid_request', 'health_check_path invalid']
  assert.deepEqual(await refused('PATCH', '/services/worker', { health_check_path: '/up' }), path)
  for (const disk_mount_path of ['/', '/a/../b', 'a', '/a:b', '//', '/.']) {
    const response = await refused('PATCH', '/services/web', { disk_mount_path })
    assert.deepEqual(response, [400, 'invalid_request', 'disk_mount_path invalid'], disk_mount_path)
  }
})

test('paths stay inside the repository, alone and combined', async (t) => {
  const { create, call, refused } = await startChecked(t)
  await create({ name: 'web', root_dir: 'apps/web/', dockerfile_path: '../Dockerfile' })
  const climbing = [400, 'invalid_request', 'dockerfile_path invalid']

  assert.deepEqual(await refused('PATCH', '/services/web', { root_dir: '' }), climbing)
  assert.deepEqual(
    await refused('PATCH', '/services/web', { dockerfile_path: '../../../Dockerfile' }),
    climbing,
  )
  for (const root_dir of ['..', 'a/../../b', '/abs', 'a\\b', 'a\nb']) {
    const response = await refused('PATCH', '/services/web', { root_dir })
    assert.deepEqual(response.slice(0, 3), [400, 'invalid_request', 'root_dir invalid'], root_dir)
  }
  const { body } = await call('PATCH', '/services/web', {
    root_dir: './',
    dockerfile_path: './docker//Dockerfile',
  })
  assert.deepEqual([body.root_dir, body.dockerfile_path], [null, 'docker/Dockerfile'])
})

test('PATCH: an empty text and 0 clear, null changes nothing, and the name cannot be changed', async (t) => {
  const { create, call, refused } = await startChecked(t)
  const full = { start_command: 'run', port: 8080, memory_limit_mb: 64, cpu_limit: 0.259, branch: 'next' }
  await create({ name: 'web', repo_url, deploy: false, ...full })

  const kept = (await call('PATCH', '/services/web', { start_command: null, port: null, branch: null })).body
  assert.deepEqual(
    [kept.start_command, kept.port, kept.memory_limit_mb, kept.cpu_limit, kept.branch],
    ['run', 8080, 64, 0.26, 'next'],
  )
  const none = { start_command: '', port: 0, memory_limit_mb: 0, cpu_limit: 0, branch: '', repo_url: '' }
  const cleared = (await call('PATCH', '/services/web', none)).body
  for (const key of Object.keys(none)) assert.equal(cleared[key], null, key)
  assert.deepEqual(await refused('PATCH', '/services/web', { name: 'b' }), [
    400,
    'invalid_request',
    'name fixed',
  ])
})

test('flags accept the usual words in any case and no value, and nothing else', async (t) => {
  const { create, call, refused } = await startChecked(t)
  await create({ name: 'web', env: [{ key: 'A', value: '1' }] })
  const put = async (query: string) => (await call('PUT', `/services/web/env?${query}`, { vars: [] })).body

  for (const query of ['dry_run', 'dry_run=1', 'dry_run=TRUE', 'dry_run=Yes', 'dry_run=y', 'dry_run=on']) {
    assert.deepEqual(await put(query), { added: [], changed: [], removed: ['A'], unresolved: [] }, query)
  }
  const wrong = await refused('PUT', '/services/web/env?dry_run=maybe', { vars: [] })
  assert.deepEqual(wrong, [400, 'invalid_request', 'dry_run invalid'])
  const twice = await refused('PUT', '/services/web/env?dry_run=1&dry_run=0', { vars: [] })
  assert.deepEqual(twice, [400, 'invalid_request'])
  assert.deepEqual(await put('dry_run=off'), [])
})
