// Broken versions: no client reaches them through the edge, and the old version continues to serve.
// All deploys of this file must run for 5 s before they replace anything.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileScope } from '../support/daemon/scope.ts'
import { logLines } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { edgeApp } from '../support/edge/edge-app.ts'
import { startLoad } from '../support/edge/edge-load.ts'
import { openEdgeSite } from '../support/edge/edge-site.ts'
import { sized } from '../support/system/drill-size.ts'

const scope = fileScope()
const site = await openEdgeSite(scope, 'container', ['--settle-time=5'])
const { placeOf } = site
const { api } = site.daemon

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
})
