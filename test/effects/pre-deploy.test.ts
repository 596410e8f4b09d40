// The command before a deploy, when its effect begins again: what ran is not run twice.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { preDeployKind } from '../../src/docker/names.ts'
import { ensureNetwork } from '../../src/docker/networks.ts'
import { removePreDeploy } from '../../src/effects/deploy/drain.ts'
import { runPreDeploy } from '../../src/effects/deploy/pre-deploy.ts'
import type { Host } from '../../src/effects/host.ts'
import { createIds } from '../../storage/ids.ts'
import { openDockerSite, testSubnet } from '../support/docker-site.ts'
import { readLog } from '../support/logs.ts'
import { serviceRow, transitionOf } from '../support/stored.ts'
import { silent, temporaryStorage } from '../support/supervised.ts'

const nobody = new AbortController().signal
const range = { first: '10.231.0.20', last: '10.231.0.30' }

/** A server with one deploy whose command says by a random word which run it was. */
async function openDeploy(t: TestContext) {
  const { engine, owner, instances, images } = await openDockerSite(t)
  const storage = await temporaryStorage(t)
  const id = createIds().newId('dep')
  const service = serviceRow({ name: 'web', memory_limit_mb: 64, cpu_limit: 1 })
  const command = 'echo "ran $(cat /proc/sys/kernel/random/uuid)"'
  await storage.services.create(service)
  await storage.actors.create(transitionOf({ id }))
  const settings = { ...service, pre_deploy_command: command }
  await storage.releases.freeze(id, () => ({ settings, env: [], resolved: null }))
  const { name, subnet } = await ensureNetwork(engine, owner, testSubnet)
  const ownRange = subnet === testSubnet ? range : rangeOf(subnet)
  const ready = async () => ({ name, range: ownRange })
  const parts = { storage, engine, owner, instances, ready, logger: silent, startedAt: '' }
  const host = { ...parts, settings: { pidsLimit: 64 } } as unknown as Host
  const input = { id, serviceId: service.id, image: images.busybox, commitSha: null }
  return { host, id, storage, run: () => runPreDeploy(host)(input, nobody) }
}

/** The network of the tests lies elsewhere when its usual place is taken. */
function rangeOf(subnet: string) {
  const start = subnet.split('.').slice(0, 3).join('.')
  const first = Number(subnet.split('.')[3]!.split('/')[0])
  return { first: `${start}.${first + 20}`, last: `${start}.${first + 30}` }
}

async function ranLines({ storage, id }: { storage: Host['storage']; id: string }): Promise<string[]> {
  await storage.logs.flush()
  const lines = await readLog(storage.logs, id)
  return lines.map(({ line }) => line).filter((line) => line.startsWith('ran '))
}

test('a command that ended is not run again when its end was not committed', async (t) => {
  const deploy = await openDeploy(t)

  await deploy.run()
  await deploy.run()

  const [first, second, ...more] = await ranLines(deploy)
  assert.ok(first)
  assert.equal(second, first, 'the output of the same run, shown again')
  assert.deepEqual(more, [])
})

test('its container and its address go when the next phase begins', async (t) => {
  const { host, id, run } = await openDeploy(t)
  await run()
  assert.equal((await host.instances.list({ deployId: id, kind: preDeployKind })).length, 1)

  await removePreDeploy(host, id)

  assert.deepEqual(await host.instances.list({ deployId: id, kind: preDeployKind }), [])
  assert.deepEqual(host.storage.addresses.deployIds(), [])
})

test('it does not answer to the name of its service', async (t) => {
  const { host, id, run } = await openDeploy(t)
  await run()

  const [found] = await host.instances.list({ deployId: id, kind: preDeployKind })
  const info = await host.engine.docker.getContainer(found!.containerId).inspect()
  const [network] = Object.values(info.NetworkSettings.Networks)
  assert.ok(!network!.Aliases?.includes('web'), String(network!.Aliases))
})
