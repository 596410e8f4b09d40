// Broken versions and crashing instances: no client reaches them through the edge, and the old version
// continues to serve.
// All deploys of this file must run for 5 s before they replace anything.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileScope } from '../support/daemon/scope.ts'
import { logLines, until } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { edgeApp } from '../support/edge/edge-app.ts'
import { startLoad } from '../support/edge/edge-load.ts'
import { openDocker, openEdgeSite } from '../support/edge/edge-site.ts'
import { long, sized } from '../support/system/drill-size.ts'

const scope = fileScope()
const site = await openEdgeSite(scope, 'container', ['--settle-time=5'])
const { containersOf, page, placeOf, untilAnswers } = site
const { api } = site.daemon
const docker = await openDocker()

const bad = [
  {
    what: 'answers 500 on its health path',
    wishes: ['health=500'],
    settings: { health_check_path: '/healthz', health_check_timeout_seconds: 3 },
    reason: /health check did not pass .* 500/,
  },
  {
    what: 'does not listen where it should',
    wishes: ['port=4000'],
    settings: { port: 3000, health_check_timeout_seconds: 3 },
    reason: /listens on 4000, not on 3000/,
  },
  {
    what: 'listens and ends a second later',
    wishes: ['exit=1000'],
    settings: { health_check_path: '/healthz' },
    reason: /exited with code 3/,
  },
  {
    what: 'refuses its probe',
    wishes: ['health=400'],
    settings: { health_check_path: '/healthz' },
    reason: /→ 400 for 20s, and the instance is idle$/,
  },
  {
    what: 'answers its probe and hangs up on what comes through the edge',
    wishes: ['hangup=x-forwarded-for'],
    settings: { health_check_path: '/healthz' },
    reason: /did not reach/,
  },
]

describe('a version', { concurrency: true }, () => {
  for (const { what, wishes, settings, reason } of sized([bad[0]!, bad[4]!], bad)) {
    test(`a version that ${what} gets no request, and the previous one keeps serving`, async (t) => {
      const service = await createService(t, api, await edgeApp('good'), { health_check_path: '/healthz' })
      // The short timeout is for the broken version; all good ones start at once.
      await api.call('PATCH', `/services/${service.name}`, { health_check_path: '', ...settings })
      const load = startLoad(t, { ...placeOf(service), inFlight: 4, pauseMs: 20 })
      await load.round()

      const deploy = await service.deploy(await edgeApp('bad', 'tell=1', ...wishes))

      await load.round()
      await load.stop()
      assert.equal(deploy.status, 'failed')
      assert.match(deploy.error, reason)
      const lines = await logLines(api, deploy.id)
      const requests = lines.filter((line) => /^asked for .* by (?!Berth)/.test(line))
      assert.deepEqual([load.failures, load.versionsSince(0), requests], [[], ['good'], []])
      assert.equal((await api.get(`/services/${service.name}`)).live_deploy_id, service.first.id)
    })
  }

  long('a version canceled while it takes over leaves all requests to the previous one', async (t) => {
    const service = await createService(t, api, await edgeApp('good'), { health_check_path: '/healthz' })
    const load = startLoad(t, { ...placeOf(service), inFlight: 4, pauseMs: 20 })
    service.repository.commit('Next', await edgeApp('canceled', 'verify=4500'))
    const { id } = await service.request()
    await until('its switch', async () => (await api.get(`/deploys/${id}`)).phase === 'switching')

    await api.post(`/deploys/${id}/cancel`)

    await until('its end', async () => (await containersOf(service)).length === 1)
    await load.round()
    await load.stop()
    assert.deepEqual([load.failures, load.versionsSince(0)], [[], ['good']])
    assert.equal((await api.get(`/services/${service.name}`)).live_deploy_id, service.first.id)
  })
})

long('a crashing instance is missing only briefly, and repeated crashes are reported', async (t) => {
  const app = await edgeApp('alone', 'again=3000')
  const service = await createService(t, api, app, { health_check_path: '/healthz' })
  const status = () => api.get(`/services/${service.name}/status`)
  const ready = async () => (await api.get('/edge')).routes.ready
  const before = await ready()
  const [container] = await containersOf(service)
  for (let crashes = 1; crashes <= 3; crashes++) {
    const { State } = await docker.getContainer(container!.id).inspect()

    process.kill(State.Pid, 'SIGKILL')

    await until('it to be missed', async () => (await ready()) === before - 1)
    const meanwhile = await page(service)
    assert.deepEqual([meanwhile.status, meanwhile.headers['retry-after']], [503, '5'])
    await untilAnswers(service, 'alone')
    await until('it to be counted', async () => (await ready()) === before)
    assert.deepEqual(await containersOf(service), [container])
  }
  const { reason } = await until('the state', async () => {
    const found = await status()
    return found.state === 'degraded' && found
  })
  assert.match(reason, /ended 3 times within a minute/)
})

long('a service with a disk announces its downtime and reports how long it was', async (t) => {
  const settings = { health_check_path: '/healthz', disk_mount_path: '/data', drain_seconds: 1 }
  const service = await createService(t, api, await edgeApp('one'), settings)

  const two = await service.deploy(await edgeApp('two'))

  assert.equal(two.status, 'live')
  assert.equal((await page(service)).body, 'two')
  const lines = (await logLines(api, two.id)).filter((line) => /service is down|downtime/.test(line))
  assert.equal(lines.length, 2)
  assert.match(lines[0]!, /stops first: the service is down until this deploy is live/)
  assert.match(lines[1]!, /downtime: \d+(\.\d)?s/)
})

long('the previous version with a disk is started again and serves when the new one fails', async (t) => {
  const settings = { health_check_path: '/healthz', disk_mount_path: '/data' }
  const service = await createService(t, api, await edgeApp('good'), settings)
  await api.call('PATCH', `/services/${service.name}`, { health_check_timeout_seconds: 2 })

  const deploy = await service.deploy(await edgeApp('bad', 'health=500'))

  assert.equal(deploy.status, 'failed')
  await untilAnswers(service, 'good')
  await until('its end', async () => (await containersOf(service)).length === 1)
  assert.equal((await api.get(`/services/${service.name}`)).live_deploy_id, service.first.id)
})

long('the edge uses the port that was detected for an app', async (t) => {
  const service = await createService(t, api, await edgeApp('one', 'port=4000'))
  assert.deepEqual([service.first.port, service.first.port_source], [4000, 'detected'], service.first.error)
  assert.equal((await page(service)).body, 'one')

  const next = await service.deploy(await edgeApp('two', 'port=4000'))

  assert.deepEqual([next.status, next.port], ['live', 4000], next.error)
  await untilAnswers(service, 'two')
})
