import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensureVolume } from '../../../src/docker/containers/volumes.ts'
import { describeObject, listForeignObjects } from '../../../src/docker/engine/ownership.ts'
import { openDockerSite, testOwner } from '../../support/docker/docker-site.ts'

test('objects that another server created under our prefix are listed, ours are not', async (t) => {
  const { engine, owner, instances, spec } = await openDockerSite(t)
  const { name } = await instances.ensure(await spec())
  await ensureVolume(engine, owner, `${owner.prefix}-disk`)
  const wrongDirectory = { ...owner, serverId: testOwner().serverId }

  assert.deepEqual(await listForeignObjects(engine, owner), [])
  const foreign = await listForeignObjects(engine, wrongDirectory)
  assert.deepEqual(foreign.map(describeObject), [
    `container ${name}`,
    `network ${owner.prefix}`,
    `volume ${owner.prefix}-disk`,
  ])
  assert.deepEqual(new Set(foreign.map(({ serverId }) => serverId)), new Set([owner.serverId]))
  assert.deepEqual(await listForeignObjects(engine, testOwner()), [])
})
