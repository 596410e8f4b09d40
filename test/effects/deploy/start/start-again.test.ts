// The start of instances, when it is repeated: an earlier daemon may have started more than are wanted now.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeployPorts } from '../../../../src/effects/deploy/ports.ts'
import { startInstances } from '../../../../src/effects/deploy/start/instances.ts'
import { openDeploy } from '../../../support/effects/frozen-deploy.ts'

test('a surplus instance is removed before the others are checked', async (t) => {
  const { ports, id, storage, input, runWith } = await openDeploy(t, {
    start_command: 'sleep 600',
    instances: 3,
  })
  const start = (changes: Partial<DeployPorts>) => startInstances(runWith(changes), input)
  const indexes = async () => (await ports.instances.list({ deployId: id })).map(({ index }) => index).sort()
  await start({})
  assert.deepEqual(await indexes(), [0, 1, 2])
  await storage.services.update('svc-1', (row) => ({ ...row, instances: 2 }))

  await start({ startedAt: new Date(Date.now() + 1000).toISOString() })

  assert.deepEqual(await indexes(), [0, 1])
})
