import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensureVolume } from '../../../src/docker/containers/volumes.ts'
import { describeObject, listForeignObjects } from '../../../src/docker/engine/ownership.ts'
import { openDockerSite, testOwner } from '../../support/docker-site.ts'

test('what another server made under our prefix is named, what is ours is not', async (t) => {
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
