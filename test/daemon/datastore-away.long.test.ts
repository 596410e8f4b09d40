// Changes to a datastore while Docker is unavailable and the datastore itself keeps running.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatastoreSite } from '../support/daemon/datastores.ts'
import { until } from '../support/daemon/service.ts'
import { createEngineGate } from '../support/docker/engine-gate.ts'

test('limits that were saved while Docker was down are applied when it is back', async (t) => {
  const door = await createEngineGate(t)
  await door.open()
  const site = await openDatastoreSite(t, { args: ['--docker', door.address] })
  const { external_url } = await site.create({ kind: 'redis', name: 'calm', memory_limit_mb: 64 })
  const { State } = await site.containerOf('calm').inspect()
  door.close()
  const limits = { memory_limit_mb: 128, cpu_limit: 0.5 }
  const { status, body } = await site.api.call('PATCH', '/datastores/calm', limits)
  assert.deepEqual([status, body.code], [503, 'docker_unavailable'])
  assert.match(body.detail, /^limits of 'calm' saved, but applying them failed: /)

  await door.open()

  await until('its limits', async () => {
    const { HostConfig } = await site.containerOf('calm').inspect()
    const maxmemory = await site.redis(external_url, 'config', 'get', 'maxmemory')
    const has = [HostConfig.Memory, HostConfig.NanoCpus, maxmemory.split('\n')[1]]
    return has.join() === [128 * 2 ** 20, 5e8, 96 * 2 ** 20].join()
  })
  assert.equal((await site.containerOf('calm').inspect()).State.Pid, State.Pid)
})
