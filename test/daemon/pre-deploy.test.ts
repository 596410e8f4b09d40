// The pre-deploy command on a real engine: it runs once, in the new image, and decides whether the
// new version starts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Api, Body } from '../support/daemon/api.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { fetchPage, finishedDeploy, logLines, pageApp, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { long } from '../support/system/drill-size.ts'

const suite = daemonSuite()

/** The containers of pre-deploy commands. */
async function preDeploys(): Promise<string[]> {
  const { containers } = await findLeftovers(suite.daemon.prefix)
  return containers.filter((name) => name.endsWith('-pre-deploy'))
}

/** Waits until the log of a deploy has such a line. */
async function untilSaid(api: Api, id: string, text: string): Promise<void> {
  for await (const { data } of api.events(`/deploys/${id}/logs?follow=true`)) {
    if (data.includes(text)) return
  }
}

test('the pre-deploy command runs in the new image, with its env, before it starts', async (t) => {
  const { api } = suite
  const { first } = await createService(t, api, await pageApp('one'), {
    env: [{ key: 'SHOP', value: 'red' }],
    pre_deploy_command: 'echo "migrating $SHOP with $(cat /www/index.html)"',
  })

  assert.equal(first.status, 'live')
  const lines = await logLines(api, first.id)
  const migrated = lines.indexOf('migrating red with one')
  const started = lines.findIndex((line) => line.startsWith('started instance 1'))
  assert.ok(migrated > 0 && migrated < started, lines.join('\n'))
  const history = await api.get(`/deploys/${first.id}/history`)
  assert.ok(history.some(({ state }: Body) => state === 'running.preparing'))
})

test('a failing pre-deploy command fails the deploy, and the previous version keeps serving', async (t) => {
  const { api } = suite
  const service = await createService(t, api, await pageApp('one'))
  await api.call('PATCH', `/services/${service.name}`, { pre_deploy_command: 'echo no table; exit 3' })
  const failed = await service.deploy(await pageApp('two'))

  assert.deepEqual([failed.status, failed.phase], ['failed', 'preparing'])
  assert.equal(failed.error, 'the pre-deploy command exited with code 3')
  assert.ok((await logLines(api, failed.id)).includes('no table'))
  assert.equal(await fetchPage(api, service.name), 'one')
  assert.deepEqual(await preDeploys(), [])
})

long('a pre-deploy command that outlives the daemon does not run twice', async (t) => {
  const { api, daemon } = suite
  const service = await createService(t, api, await pageApp('one'))
  await api.call('PATCH', `/services/${service.name}`, {
    pre_deploy_command: 'echo begun $(cat /proc/sys/kernel/random/uuid); sleep 6; echo done',
  })
  service.repository.commit('Next', await pageApp('two'))
  const { id } = await service.request()
  await untilSaid(api, id, 'begun')
  await daemon.kill()
  await daemon.start()

  const finished = await finishedDeploy(suite.api, id)
  assert.equal(finished.status, 'live')
  const lines = await logLines(suite.api, id)
  assert.equal(lines.filter((line) => line === 'done').length, 1)
  const [before, after] = lines.filter((line) => line.startsWith('begun'))
  assert.equal(after, before, 'its output is shown again, from the same run')
})

long('a cancel ends the pre-deploy command, and leaves nothing of it', async (t) => {
  const { api } = suite
  const service = await createService(t, api, await pageApp('one'))
  await api.call('PATCH', `/services/${service.name}`, { pre_deploy_command: 'echo begun; sleep 600' })
  service.repository.commit('Next', await pageApp('two'))
  const { id } = await service.request()
  await untilSaid(api, id, 'begun')
  assert.equal((await preDeploys()).length, 1)
  const { instances } = await api.get(`/services/${service.name}/status`)
  assert.equal(instances.length, 1, 'it is not an instance')

  assert.equal((await api.post(`/deploys/${id}/cancel`)).status, 'canceled')
  await until('the command to be gone', async () => (await preDeploys()).length === 0)
  assert.equal(await fetchPage(api, service.name), 'one')
})
