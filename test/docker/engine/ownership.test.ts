import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensureVolume } from '../../../src/docker/containers/volumes.ts'
import { requireOwnPrefix } from '../../../src/docker/engine/ownership.ts'
import { openDockerSite, testOwner } from '../../support/docker/docker-site.ts'

test('objects that another server created under our prefix are refused by name, ours are not', async (t) => {
  const { engine, owner, instances, spec } = await openDockerSite(t)
  const { name } = await instances.ensure(await spec())
  await ensureVolume(engine, owner, `${owner.prefix}-disk`)
  const wrongDirectory = { ...owner, serverId: testOwner().serverId }

  await requireOwnPrefix(engine, owner, [])
  await requireOwnPrefix(engine, testOwner(), [])
  await assert.rejects(requireOwnPrefix(engine, wrongDirectory, []), {
    code: 'foreign_objects',
    message:
      `Docker has objects of the prefix '${owner.prefix}' that belong to another data directory: ` +
      `container ${name}, network ${owner.prefix}, volume ${owner.prefix}-disk`,
    hint: /docs\/moving\.md/,
  })
  await requireOwnPrefix(engine, wrongDirectory, [owner.serverId])
})
