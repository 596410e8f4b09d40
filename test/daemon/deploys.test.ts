// Deploys of a real daemon: from a git repository to a served page and to its next version.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { withoutMac } from '../../src/docker/engine/names.ts'
import { findLeftovers, findObjectsOf } from '../support/daemon/leftovers.ts'
import { dockerfile, fetchPage, finishedDeploy, logLines, pageApp, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { long } from '../support/system/drill-size.ts'
import { findProcesses } from '../support/system/processes.ts'

const suite = daemonSuite({ args: ['--build-concurrency=1', '--keep-images=2'] })

test('a git repository becomes a live container that serves requests', async (t) => {
  const { api, daemon } = suite
  const { name, id, first, repository } = await createService(t, api, await pageApp('hello'))
  const sha = repository.git('rev-parse', 'HEAD')
  const { created_at, started_at, finished_at, image, revision: _, ...deploy } = first
  assert.deepEqual(deploy, {
    id: first.id,
    service_id: id,
    status: 'live',
    phase: null,
    trigger: 'create',
    source: {
      kind: 'git',
      repo_url: repository.directory,
      branch: 'main',
      commit: null,
      image: null,
      deploy_id: null,
    },
    port: 3000,
    port_source: 'default',
    health_check: 'port',
    by: first.by,
    warnings: [],
    commit_sha: sha,
    commit_message: 'First',
    error: null,
    error_code: null,
    error_details: null,
    deadline_at: null,
  })
  assert.equal(withoutMac(image), `${daemon.prefix}/${name}:${first.id}`)
  assert.ok(created_at <= started_at && started_at <= finished_at)
  assert.equal(await fetchPage(api, name), 'hello')
  const service = await api.get(`/services/${name}`)
  assert.deepEqual([service.state, service.live_deploy_id], ['live', first.id])
})

test('its log shows the phases in order; a reader that reconnects misses and repeats nothing', async (t) => {
  const { api } = suite
  const { first } = await createService(t, api, await pageApp('hello', 'RUN echo building-the-page'))
  const all = await logLines(api, first.id)
  const marks = [
    /^cloning /,
    /checked out [0-9a-f]{7} First/,
    /building-the-page/,
    /^started instance 1 of 1 at/,
  ]
  const places = [...marks, /^healthy: /, /^live$/].map((mark) => all.findIndex((line) => mark.test(line)))
  assert.deepEqual(
    places,
    [...places].sort((a, b) => a - b),
    all.join('\n'),
  )
  assert.ok(!places.includes(-1), all.join('\n'))
  const ids: number[] = []
  for await (const { event, id } of api.events(`/deploys/${first.id}/logs`, { lastEventId: 3 })) {
    if (event === 'log') ids.push(Number(id))
  }
  assert.deepEqual(
    ids,
    Array.from({ length: all.length - 3 }, (_, index) => index + 4),
  )
})

test('the first version serves until the second is live; then it is removed', async (t) => {
  const { api, daemon } = suite
  const { name, request, repository, first } = await createService(t, api, await pageApp('one'))
  const [instance] = (await api.get(`/services/${name}/status`)).instances
  repository.commit('Second', await pageApp('two', `RUN sleep 1 # ${randomUUID()}`))
  const { id } = await request()
  const isLive = async () => (await api.get(`/services/${name}`)).live_deploy_id === id
  const ask = async () => (await fetch(`http://${instance.address}/`)).text()
  while (!(await isLive())) {
    const page = await ask().catch((error: Error) => error.message)
    // The switch may have happened since the last check.
    if (page !== 'one') assert.ok(await isLive(), page)
  }
  await until('the first version to be gone', async () => {
    const deploy = await api.get(`/deploys/${first.id}`)
    const { containers } = await findLeftovers(daemon.prefix)
    return deploy.status === 'deactivated' && !containers.includes(instance.name)
  })
  assert.equal(await fetchPage(api, name), 'two')
})

long('a commit, another branch, a folder and another Dockerfile can be deployed', async (t) => {
  const { api } = suite
  const page = await pageApp('from main')
  const { name, request, repository } = await createService(t, api, page)
  const old = repository.git('rev-parse', 'HEAD')
  repository.commit('Newer', await pageApp('newer'))
  const deploy = await finishedDeploy(api, (await request({ commit: old.slice(0, 8) })).id)
  assert.deepEqual([deploy.status, deploy.commit_sha], ['live', old])

  repository.branch('side')
  repository.checkout('side')
  const moved = Object.entries(await pageApp('from a folder')).map(([path, text]) => [`web/${path}`, text])
  const files = Object.fromEntries(moved)
  files['web/docker/Other.Dockerfile'] = files['web/Dockerfile']
  delete files['web/Dockerfile']
  repository.commit('Folder', files)
  const settings = { branch: 'side', root_dir: 'web', dockerfile_path: 'docker/Other.Dockerfile' }
  assert.equal((await api.call('PATCH', `/services/${name}`, settings)).status, 200)
  assert.equal((await finishedDeploy(api, (await request()).id)).status, 'live')
  assert.equal(await fetchPage(api, name), 'from a folder')
})

test('env values arrive byte for byte, with references resolved, and change with a restart', async (t) => {
  const { api } = suite
  const other = await createService(t, api, null)
  const value = ' $ \' " \\ = # %s\r\n\ttab ünïcode 🚢 $(touch /tmp/x) `id` \n'
  const env = [
    { key: 'ODD', value },
    { key: 'OTHER', value: `\${{service.${other.name}.hostport}}` },
    { key: 'LITERAL', value: '$${{kept}}' },
  ]
  const command =
    'mkdir /w; printf %s "$ODD" >/w/odd; printf %s "$OTHER $LITERAL" >/w/ref; exec httpd -f -p $PORT -h /w'
  const { name } = await createService(
    t,
    api,
    { Dockerfile: await dockerfile() },
    { env, start_command: command },
  )
  assert.equal(await fetchPage(api, name, '/odd'), value)
  assert.equal(await fetchPage(api, name, '/ref'), `${other.name}:3000 \${{kept}}`)

  await api.call('PATCH', `/services/${name}/env`, { set: [{ key: 'ODD', value: 'changed' }] })
  assert.equal(await fetchPage(api, name, '/odd'), value, 'not before the restart')
  const restart = await finishedDeploy(api, (await api.post(`/services/${name}/restart`)).id)
  assert.deepEqual([restart.status, restart.trigger, restart.source.kind], ['live', 'restart', 'reuse'])
  assert.equal(await fetchPage(api, name, '/odd'), 'changed')
})

test('a cancel stops the build and leaves nothing of it, and the old version keeps serving', async (t) => {
  const { api, daemon } = suite
  const { name, request, repository, first } = await createService(t, api, await pageApp('one'))
  repository.commit('Never', await pageApp('two', 'RUN echo started && sleep 4242'))
  const { id } = await request()
  for await (const { data } of api.events(`/deploys/${id}/logs?follow=true`)) {
    if (/ started"/.test(data)) break
  }
  const waiting = await api.post('/services', { name: `${name}-too`, repo_url: repository.directory })
  const latest = (deployId: string) => api.get(`/deploys/${deployId}?include=phases`)
  const queued = await until('the other build to wait', async () => {
    const deploy = await latest(waiting.latest_deploy.id)
    return deploy.phases.at(-1).phase === 'slot' ? deploy : null
  })
  const building = await latest(id)
  assert.deepEqual([building.phases.at(-1).phase, queued.deadline_at], ['building', null])
  assert.ok(Date.parse(building.deadline_at) > Date.now())
  await api.post(`/deploys/${queued.id}/cancel`)
  const canceled = await api.post(`/deploys/${id}/cancel`)
  assert.deepEqual(
    [canceled.status, canceled.phase, canceled.error],
    ['canceled', 'building', 'canceled by the server token'],
  )
  assert.equal((await logLines(api, id)).at(-1), 'canceled by the server token')
  await until(
    'the cleanup',
    async () => (await api.get(`/deploys/${id}/history`)).at(-1).state === 'canceled',
  )
  assert.deepEqual(await findProcesses('sleep 4242'), [])
  assert.deepEqual(await findObjectsOf(daemon.prefix, id), [])
  assert.equal(await fetchPage(api, name), 'one')
  assert.equal((await api.call('POST', `/deploys/${id}/cancel`)).body.code, 'not_cancelable')
  assert.equal((await api.call('POST', `/deploys/${first.id}/cancel`)).body.code, 'not_cancelable')
})

test('the same Idempotency-Key creates one deploy, and returns it again', async (t) => {
  const { api } = suite
  const { name } = await createService(t, api, await pageApp('one', `RUN sleep 1 # ${randomUUID()}`))
  const ask = () => api.call('POST', `/services/${name}/deploys`, {}, { 'idempotency-key': 'once' })
  const responses = await Promise.all([ask(), ask(), ask()])
  assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([202]))
  assert.equal(new Set(responses.map(({ body }) => body.id)).size, 1)
  const other = { clear_cache: true }
  const { status } = await api.call('POST', `/services/${name}/deploys`, other, { 'idempotency-key': 'once' })
  assert.deepEqual([status, (await api.get(`/services/${name}/deploys`)).length], [409, 2])
})
