// Starts that are repeated: a command that ran is not run again, and surplus instances are removed.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { preDeployKind } from '../../../../src/docker/engine/names.ts'
import { removePreDeploy } from '../../../../src/effects/deploy/end/drain.ts'
import type { DeployPorts } from '../../../../src/effects/deploy/ports.ts'
import { startInstances } from '../../../../src/effects/deploy/start/instances.ts'
import { runPreDeploy } from '../../../../src/effects/deploy/start/pre-deploy.ts'
import type { Storage } from '../../../../storage/index.ts'
import { openDeploy } from '../../../support/effects/frozen-deploy.ts'
import { readLog } from '../../../support/storage/logs.ts'

/** The command prints a random word, which identifies its run. */
async function openCommand(t: TestContext) {
  const command = 'echo "ran $(cat /proc/sys/kernel/random/uuid)"'
  const deploy = await openDeploy(t, { pre_deploy_command: command })
  return { ...deploy, run: () => runPreDeploy(deploy.runWith({}), deploy.input) }
}

async function ranLines({ storage, id }: { storage: Storage; id: string }): Promise<string[]> {
  await storage.logs.flush()
  const lines = await readLog(storage.logs, id)
  return lines.map(({ line }) => line).filter((line) => line.startsWith('ran '))
}

test('an ended command is not run again if its end was not committed', async (t) => {
  const deploy = await openCommand(t)

  await deploy.run()
  await deploy.run()

  const [first, second, ...more] = await ranLines(deploy)
  assert.ok(first)
  assert.equal(second, first, 'the output of the same run, shown again')
  assert.deepEqual(more, [])
})

test('its container and its address are released when the next phase starts', async (t) => {
  const { ports, id, run } = await openCommand(t)
  await run()
  assert.equal((await ports.instances.list({ deployId: id, kind: preDeployKind })).length, 1)

  await removePreDeploy(ports, id)

  assert.deepEqual(await ports.instances.list({ deployId: id, kind: preDeployKind }), [])
  assert.deepEqual(ports.storage.addresses.deployIds(), [])
})

test('it is not reachable by the name of its service', async (t) => {
  const { ports, id, run } = await openCommand(t)
  await run()

  const [found] = await ports.instances.list({ deployId: id, kind: preDeployKind })
  const info = await ports.engine.docker.getContainer(found!.containerId).inspect()
  const [network] = Object.values(info.NetworkSettings.Networks)
  assert.ok(!network!.Aliases?.includes('web'), String(network!.Aliases))
})

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
