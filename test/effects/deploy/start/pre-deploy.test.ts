// Starts that are repeated: a command that ran is not run again, and surplus instances are removed.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { preDeployKind } from '../../../../src/docker/engine/names.ts'
import { ensureNetwork } from '../../../../src/docker/network/networks.ts'
import { removePreDeploy } from '../../../../src/effects/deploy/end/drain.ts'
import { DeployPhase } from '../../../../src/effects/deploy/phase.ts'
import type { DeployPorts } from '../../../../src/effects/deploy/ports.ts'
import { startInstances } from '../../../../src/effects/deploy/start/instances.ts'
import { runPreDeploy } from '../../../../src/effects/deploy/start/pre-deploy.ts'
import type { Storage } from '../../../../storage/index.ts'
import type { ServiceSettings } from '../../../../storage/services.ts'
import { createIds } from '../../../../storage/store/ids.ts'
import { openDockerSite, testSubnet } from '../../../support/docker/docker-site.ts'
import { standIn } from '../../../support/effects/stand-in.ts'
import { readLog } from '../../../support/storage/logs.ts'
import { serviceRow, transitionOf } from '../../../support/storage/store-fixtures.ts'
import { silentLogger, temporaryStorage } from '../../../support/supervisor/supervision.ts'

const range = { first: '10.231.0.20', last: '10.231.0.30' }

/** `changes` are settings of its service; its image is busybox. */
async function openDeploy(t: TestContext, changes: Partial<ServiceSettings>) {
  const { engine, owner, instances, images } = await openDockerSite(t)
  const storage = await temporaryStorage(t)
  const id = createIds().newId('dep')
  const service = serviceRow({ name: 'web', memory_limit_mb: 64, cpu_limit: 1, ...changes })
  await storage.services.create(service)
  await storage.actors.create(transitionOf({ id }))
  await storage.releases.freeze(id, () => ({ settings: service, env: [], resolved: null }))
  const { name, subnet } = await ensureNetwork(engine, owner, testSubnet)
  const ownRange = subnet === testSubnet ? range : rangeOf(subnet)
  const engineReady = async () => ({ name, range: ownRange })
  const parts = { storage, engine, owner, instances, engineReady, logger: silentLogger, startedAt: '' }
  const edge = { mode: 'off', httpPort: 80, httpsPort: 443, dashboardHost: null } as const
  const publication = { baseDomain: 'localhost', edge, hasCertificate: () => false }
  const logCollector = { drained: async () => undefined }
  const isolation = { apply: async () => undefined }
  const more = { publication, logCollector, isolation, settings: { pidsLimit: 64 } }
  const ports = standIn<DeployPorts>({ ...parts, ...more })
  const input = { image: images.busybox, commitSha: null }
  const runWith = (changed: Partial<DeployPorts>) =>
    new DeployPhase({ ...ports, ...changed }, { id, serviceId: service.id }, t.signal)
  return { ports, id, storage, input, runWith }
}

/** Uses another subnet if the test network's default one is occupied. */
function rangeOf(subnet: string) {
  const start = subnet.split('.').slice(0, 3).join('.')
  const first = Number(subnet.split('.')[3]!.split('/')[0])
  return { first: `${start}.${first + 20}`, last: `${start}.${first + 30}` }
}

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
