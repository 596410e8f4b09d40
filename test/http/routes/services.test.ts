// Services, over HTTP and a real store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deploy } from '../../../src/api/deploy.ts'
import type { Service } from '../../../src/api/service.ts'
import type { ServiceStatus } from '../../../src/api/status.ts'
import { Failure } from '../../../src/errors.ts'
import type { InstanceStatus } from '../../../src/http/pipeline/context.ts'
import { startChecked } from '../../support/http/checked-api.ts'

const repo_url = 'https://git.test/owner/name'

test('a new service has every field, with the defaults', async (t) => {
  const { create } = await startChecked(t)

  const { id, created_at, updated_at, ...service } = await create({ name: 'web' })

  assert.match(id, /^svc-[0-9a-z]{26}$/)
  assert.equal(created_at, updated_at)
  assert.deepEqual(service, {
    name: 'web',
    type: 'web_service',
    repo_url: null,
    branch: null,
    image: null,
    root_dir: null,
    dockerfile_path: null,
    builder: null,
    build_command: null,
    start_command: null,
    pre_deploy_command: null,
    build_env: [],
    build_target: null,
    build_args: {},
    init: true,
    protocol: 'http',
    submodule_owners: [],
    use_git_connection: true,
    publish_dir: null,
    spa_fallback: false,
    port: null,
    health_check_path: null,
    health_check_timeout_seconds: 300,
    drain_seconds: 30,
    schedule: null,
    timezone: null,
    overlap: null,
    timeout_seconds: null,
    instances: 1,
    auto_deploy: true,
    deploy_when: 'push',
    watch_paths: [],
    poll_seconds: 300,
    tag_pattern: null,
    skip_ci: false,
    auto_deploys: {
      status: 'off',
      reason: 'it has neither a repository nor an image',
      paused_by: null,
      undecided: false,
      since: null,
      decision: null,
      actor_id: null,
    },
    has_deploy_key: false,
    suspended: false,
    disk_mount_path: null,
    memory_limit_mb: null,
    cpu_limit: null,
    custom_domains: [],
    hsts: false,
    request_timeout_seconds: 75,
    max_body_mb: 512,
    shared_network: false,
    live_deploy_id: null,
    state: 'not_deployed',
    url: 'http://web.localhost',
    hosts: ['web.localhost'],
    internal_host: 'web',
    internal_port: null,
    port_source: null,
    health_check: null,
    latest_deploy: null,
    revision: 1,
  })
})

test('a service with a repository queues its first deploy, unless deploy is false', async (t) => {
  const { create, get } = await startChecked(t)

  const { latest_deploy, state } = await create({ name: 'web', repo_url, branch: 'next' })
  const quiet = await create({ name: 'quiet', repo_url, deploy: false })

  assert.deepEqual([state, latest_deploy?.status, latest_deploy?.trigger], ['deploying', 'queued', 'create'])
  const source = { kind: 'git', repo_url, branch: 'next', commit: null, image: null, deploy_id: null }
  assert.deepEqual(latest_deploy?.source, source)
  assert.deepEqual((await get('web')).latest_deploy, latest_deploy)
  assert.deepEqual([quiet.state, quiet.latest_deploy], ['not_deployed', null])
})

test('a service and its first deploy are created together or not at all', async (t) => {
  const { call, context } = await startChecked(t)
  context.actors.spawn = () => Promise.reject(new Failure('insufficient_storage', 'full'))

  const refused = await call('POST', '/services', { name: 'web', repo_url })

  assert.deepEqual([refused.status, refused.body.code], [507, 'insufficient_storage'])
  assert.equal((await call('GET', '/services/web')).status, 404)
})

test('credentials in a repository URL are stored separately and never shown', async (t) => {
  const { call, create, storage } = await startChecked(t)
  const secret = { username: 'user', password: 's3cret', origin: 'https://git.test' }

  const { id } = await create({ name: 'web', repo_url: 'https://user:s3cret@git.test/owner/name' })

  assert.deepEqual(storage.credentials.get(id), secret)
  for (const path of ['/services', '/services/web', '/services/web/deploys']) {
    assert.doesNotMatch((await call('GET', path)).text, /s3cret/)
  }
  await call('PATCH', '/services/web', { repo_url })
  assert.deepEqual(storage.credentials.get(id), secret, 'the shown URL sent back keeps them')
  await call('PATCH', '/services/web', { repo_url: 'https://git.test/owner/other' })
  assert.equal(storage.credentials.get(id), null, 'another URL drops them')
})

test('parallel PATCHes of different fields all survive', async (t) => {
  const { create, call, get } = await startChecked(t)
  await create({ name: 'web' })
  const changes = [
    { port: 81 },
    { instances: 3 },
    { suspended: true },
    { drain_seconds: 5 },
    { start_command: 'x' },
  ]

  await Promise.all(changes.map((change) => call('PATCH', '/services/web', change)))

  const { port, instances, suspended, drain_seconds, start_command } = await get('web')
  assert.deepEqual([port, instances, suspended, drain_seconds, start_command], [81, 3, true, 5, 'x'])
})

test('the state is derived from the row and its deploys', async (t) => {
  const { create, call, get, setDeploy, storage } = await startChecked(t)
  const { latest_deploy, id } = await create({ name: 'web', repo_url })
  const first = latest_deploy!.id
  const stateAfter = async (deployId: string, fields: Partial<Deploy>) => {
    await setDeploy(deployId, fields)
    return (await get('web')).state
  }

  assert.equal(await stateAfter(first, { status: 'running', phase: 'building' }), 'deploying')
  assert.equal(await stateAfter(first, { status: 'failed', phase: null }), 'failed')
  const second = (await call('POST', '/services/web/deploys')).body.id as string
  assert.equal(await stateAfter(second, { status: 'canceled' }), 'failed')
  const third = (await call('POST', '/services/web/deploys')).body.id as string
  assert.equal(await stateAfter(third, { status: 'live', port: 4000 }), 'live')
  assert.equal((await get('web')).internal_port, 4000)
  await storage.services.update(id, (row) => ({ ...row, degraded: true }))
  assert.equal((await get('web')).state, 'degraded')
  const fourth = (await call('POST', '/services/web/deploys')).body.id as string
  assert.equal(await stateAfter(fourth, { status: 'failed' }), 'degraded')
  assert.equal((await call('POST', '/services/web/suspend')).body.state, 'suspended')
  assert.equal((await call('DELETE', '/services/web')).status, 204)
  assert.equal((await get('web')).state, 'deleting')
})

test('an older active deploy counts although a newer one was canceled', async (t) => {
  const { create, call, get, setDeploy } = await startChecked(t)
  const { latest_deploy } = await create({ name: 'web', repo_url })
  await setDeploy(latest_deploy!.id, { status: 'running' })
  const newer = (await call('POST', '/services/web/deploys')).body.id as string

  await call('POST', `/deploys/${newer}/cancel`)

  assert.equal((await get('web')).state, 'deploying')
})

test('a service is found by id and by name, and lists are ordered by name', async (t) => {
  const { create, call, get } = await startChecked(t)
  for (const name of ['b', 'a']) await create({ name })

  const { id } = await get('b')
  assert.equal((await get(id)).name, 'b')
  const { body } = await call('GET', '/services')
  assert.deepEqual(
    (body as unknown as Service[]).map(({ name }) => name),
    ['a', 'b'],
  )
})

test('a service in use is not deleted, except with force', async (t) => {
  const { create, call, refused } = await startChecked(t)
  const refers = [
    { key: 'API', value: 'http://$' + '{{ service.api.hostport }}/' },
    { key: 'PLAIN', value: '$$' + '{{service.api.host}} service.api.host' },
    { key: 'OTHER', value: '$' + '{{service.api2.host}}' },
  ]
  await create({ name: 'api', env: [{ key: 'SELF', value: '$' + '{{service.api.host}}' }] })
  await create({ name: 'web', env: refers })

  assert.deepEqual(await refused('DELETE', '/services/api'), [409, 'in_use', 'web.API reference'])
  assert.equal((await call('DELETE', '/services/api?force=true')).status, 204)
  assert.deepEqual(await refused('PATCH', '/services/api', { port: 1 }), [409, 'conflict'])
  assert.deepEqual(await refused('POST', '/services/api/deploys'), [409, 'conflict'])
  assert.deepEqual(await refused('POST', '/services/api/restart'), [409, 'conflict'])
  assert.deepEqual(await refused('PUT', '/services/api/env', { vars: [] }), [409, 'conflict'])
})

test('suspend, resume and scale change the row immediately', async (t) => {
  const { create, call } = await startChecked(t)
  await create({ name: 'web' })

  assert.equal((await call('POST', '/services/web/suspend')).body.suspended, true)
  assert.equal((await call('POST', '/services/web/resume')).body.suspended, false)
  assert.equal((await call('POST', '/services/web/scale', { instances: 4 })).body.instances, 4)
  assert.equal((await call('GET', '/services/web/status')).body.desired_instances, 4)
})

const instanceOf = (deployId: string): InstanceStatus => ({
  container_id: 'c'.repeat(64),
  name: `berth-${deployId}-1`,
  deploy_id: deployId,
  state: 'running',
  address: null,
  started_at: null,
  restart_count: 0,
  cpu_percent: null,
  memory_bytes: null,
  memory_limit_bytes: null,
  cpu_limit: null,
  oom_killed: false,
  health: null,
  exit_code: null,
})

test('each instance shows its role, and live ones are separate from those of earlier deploys', async (t) => {
  const { context, call, create, setDeploy } = await startChecked(t)
  await create({ name: 'web', repo_url: 'https://git.test/owner/name', deploy: false })
  // The later of the two that are live is the one of the service.
  const statuses = ['deactivated', 'live', 'live', 'failed', 'canceled', 'queued', 'running'] as const
  const ids: string[] = []
  for (const status of statuses) {
    const { id } = (await call('POST', '/services/web/deploys')).body as unknown as Deploy
    if (status !== 'queued') await setDeploy(id, { status })
    ids.push(id)
  }
  const instances = async () => [...ids, `dep-${'0'.repeat(26)}`].map(instanceOf)
  context.observe = { ...context.observe, instances }

  const { body } = await call('GET', '/services/web/status')

  const roles = (body as unknown as ServiceStatus).instances.map(({ role }) => role)
  const previous = ['draining', 'draining', 'live', 'removing', 'removing']
  assert.deepEqual(roles, [...previous, 'starting', 'starting', null])
})

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

test('settings of pages are rejected for types that serve none', async (t) => {
  const { refused } = await startChecked(t)
  for (const [key, value] of Object.entries({ publish_dir: 'dist', spa_fallback: true })) {
    const response = await refused('POST', '/services', {
      name: 'web',
      type: 'private_service',
      [key]: value,
    })
    assert.deepEqual(response, [400, 'invalid_request', `${key} invalid`])
  }
  const climbing = { name: 'web', type: 'static_site', publish_dir: '../dist' }
  assert.deepEqual(await refused('POST', '/services', climbing), [
    400,
    'invalid_request',
    'publish_dir invalid',
  ])
})

test('a builder is set and cleared, and only a known one', async (t) => {
  const { call, create, refused } = await startChecked(t)
  const service = await create({ name: 'web', builder: 'recipe', build_command: 'make' })
  assert.deepEqual([service.builder, service.build_command], ['recipe', 'make'])
  const { body } = await call('PATCH', '/services/web', { builder: '', build_command: '' })
  assert.deepEqual([body.builder, body.build_command], [null, null])
  const response = await refused('PATCH', '/services/web', { builder: 'magic' })
  assert.deepEqual(response, [400, 'invalid_request', 'builder invalid_value'])
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
