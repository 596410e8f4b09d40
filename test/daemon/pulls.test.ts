// Pulls that are interrupted by a cancel, a timeout or a crash. None leaves anything behind, none is lost.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Body } from '../support/daemon/api.ts'
import { type DaemonOptions, startDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { fetchPage, finishedDeploy, logLines, until } from '../support/daemon/service.ts'
import { until as untilFact } from '../support/docker/docker-site.ts'
import { startRegistry } from '../support/docker/registry.ts'
import { openRegistryProxy } from '../support/docker/registry-proxy.ts'
import { long } from '../support/system/drill-size.ts'

/** A daemon with a deploy whose pull has started and cannot continue. */
async function startPull(t: TestContext, options: DaemonOptions = {}) {
  const registry = await startRegistry(t)
  const door = await openRegistryProxy(t, registry.host)
  const digest = await registry.push('app:v1', 'one')
  const daemon = await startDaemon(t, options)
  door.hold()
  const image = `${door.host}/app:v1`
  const { latest_deploy } = await daemon.api.post('/services', { name: 'web', image, drain_seconds: 0 })
  await untilFact('the pull waits for a layer', () => door.held > 0)
  const namesOnEngine = () => registry.namesOnEngine(door.host)
  return { daemon, door, digest, image, id: latest_deploy.id as string, namesOnEngine }
}

/** Nothing of the deploy is left after its cleanup. */
async function assertNothingLeft(daemon: TestDaemon, deploy: Body): Promise<void> {
  await until('the cleanup', async () => {
    const last = (await daemon.api.get(`/deploys/${deploy.id}/history`)).at(-1)
    return last.state === deploy.status
  })
  const { images, containers } = await findLeftovers(daemon.prefix)
  assert.deepEqual([...images, ...containers], [])
}

test('a canceled pull ends, and leaves no image and no name', async (t) => {
  const { daemon, door, id, namesOnEngine } = await startPull(t)

  const canceled = await daemon.api.post(`/deploys/${id}/cancel`)
  assert.deepEqual([canceled.status, canceled.phase], ['canceled', 'pulling'])
  await assertNothingLeft(daemon, canceled)
  door.release()

  assert.deepEqual(await namesOnEngine(), [])
  const again = await daemon.api.post('/services/web/deploys')
  assert.equal((await finishedDeploy(daemon.api, again.id)).status, 'live')
})

long('a pull interrupted by a kill of the daemon is repeated and goes live', async (t) => {
  const { daemon, door, digest, image, id, namesOnEngine } = await startPull(t)

  await daemon.kill()
  door.release()
  await daemon.start()
  const deploy = await finishedDeploy(daemon.api, id)

  assert.equal(deploy.status, 'live', deploy.error)
  assert.equal(deploy.source.image, `${image}@${digest}`)
  assert.equal(await fetchPage(daemon.api, 'web'), 'one')
  assert.ok((await logLines(daemon.api, id)).includes('pulling starts again: the daemon was restarted'))
  assert.deepEqual(await namesOnEngine(), [])
})
