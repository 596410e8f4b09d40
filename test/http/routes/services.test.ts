// Services, over HTTP and a real store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deploy } from '../../../src/api/deploy.ts'
import type { Service } from '../../../src/api/service.ts'
import { Failure } from '../../../src/errors.ts'
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
    build_command: null,
    start_command: null,
    pre_deploy_command: null,
    build_env: [],
    build_target: null,
    build_args: {},
    init: true,
    protocol: 'http',
    submodule_owners: [],
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
    watch_paths: [],
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
