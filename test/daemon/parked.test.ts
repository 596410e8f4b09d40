// A restarted daemon with a parked edge and a parked deploy: the edge serves, the deploy
// continues on request.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { openStorage } from '../../storage/index.ts'
import { runBerth } from '../support/cli/berth.ts'
import type { Body } from '../support/daemon/api.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { dockerfile, fetchPage, finishedDeploy, until } from '../support/daemon/service.ts'
import { createService, type TestService } from '../support/daemon/suite.ts'
import { edgeApp } from '../support/edge/edge-app.ts'
import { type EdgeSite, openEdgeSite } from '../support/edge/edge-site.ts'
import { long } from '../support/system/drill-size.ts'

const scope = fileScope()
const reason = 'an error of ours'
let site: EdgeSite
let service: TestService

before(async () => {
  site = await openEdgeSite(scope, 'host')
  service = await createService(scope, site.daemon.api, await edgeApp('one'))
  await site.untilAnswers(service, 'one')
})

const untilEdge = (status: string) =>
  until(`an edge that is ${status}`, async () => (await site.daemon.api.get('/edge')).status === status)

/** Parks them like the supervisor, while no daemon runs. */
async function park(...ids: string[]): Promise<void> {
  await site.daemon.stop()
  const storage = await openStorage(site.daemon.dataDir, { onPanic: assert.fail })
  for (const id of ids) await storage.actors.park(id, reason, new Date().toISOString())
  await storage.close()
  await site.daemon.start()
}

const countLines = (text: string, from: number) =>
  site.daemon.log.slice(from).filter((line) => line.includes(text)).length

test('a parked edge is recovered at a start, and its services are served', async () => {
  await park('edge')
  await untilEdge('serving')
  await site.untilAnswers(service, 'one')
  assert.deepEqual(await site.daemon.api.get('/actors?parked=true'), [])
})

long('each start reports a parked live deploy, and berth retry resumes it', async (t) => {
  const { id } = service.first
  await park(id as string)
  for (let starts = 0; starts < 2; starts++) {
    const linesBefore = site.daemon.log.length
    await site.daemon.stop()
    await site.daemon.start()
    assert.equal(countLines('an actor is still parked', linesBefore), 1)
  }
  const { state, reason: why } = await site.daemon.api.get(`/services/${service.name}/status`)
  assert.deepEqual([state, why], ['degraded', `the deploy ${id} is parked: ${reason}; berth retry ${id}`])
  assert.equal((await site.page(service)).body, 'one')

  const { url } = site.daemon.api
  const token = readFileSync(join(site.daemon.dataDir, 'api_token'), 'utf8').trim()
  const { code, stderr } = await runBerth(t, ['retry', id as string], {
    env: { BERTH_SERVER: url, BERTH_TOKEN: token },
  })

  assert.deepEqual([code, stderr.includes(`${id} is resumed`)], [0, true], stderr)
  const live = await site.daemon.api.get(`/services/${service.name}`)
  assert.deepEqual([live.state, live.latest_deploy.status], ['live', 'live'])
  assert.equal((await site.page(service)).body, 'one')
})

long('a deploy waits for the disk of a parked deploy, and gets it once that is discarded', async (t) => {
  const start_command =
    'cd /data; [ ! -e lock ] || touch shared; touch lock; echo x >> count; ' +
    'trap "rm lock; exit 0" TERM; httpd -f -p $PORT & wait'
  const settings = { disk_mount_path: '/data', start_command, health_check_timeout_seconds: 60 }
  const files = { Dockerfile: await dockerfile() }
  const { name, first } = await createService(t, site.daemon.api, files, settings)
  assert.equal(first.status, 'live', first.error)
  await park(first.id)
  const { api } = site.daemon
  const running = async () => {
    const { instances } = await api.get(`/services/${name}/status`)
    return instances.filter(({ deploy_id }: Body) => deploy_id === first.id).length
  }

  const next = await api.post(`/services/${name}/deploys`)
  for await (const { event, data } of api.events(`/deploys/${next.id}/logs?follow=true`)) {
    assert.notEqual(event, 'end', 'it has not waited')
    if (JSON.parse(data).line.startsWith(`the disk is held by ${first.id}`)) break
  }
  assert.equal(await running(), 1, 'a parked deploy keeps what it started')
  await api.post(`/actors/${first.id}/discard`)

  const live = await finishedDeploy(api, next.id)
  assert.equal(live.status, 'live', live.error)
  assert.equal(await running(), 0)
  assert.equal(await fetchPage(api, name, '/count'), 'x\nx\n')
  assert.match(await fetchPage(api, name, '/shared'), /404/)
})
