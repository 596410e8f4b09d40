// A corner of the real engine for one test: a random prefix, and nothing left of it afterwards.
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Instances, openInstances } from '../../../src/docker/containers/instances.ts'
import type { InstanceSpec } from '../../../src/docker/containers/spec.ts'
import { acceptStatus, type Engine, openEngine } from '../../../src/docker/engine/client.ts'
import { containerName, labels, type Owner } from '../../../src/docker/engine/names.ts'
import { addressAt, ensureNetwork, parseSubnet } from '../../../src/docker/network/networks.ts'
import { testMac } from '../system/test-mac.ts'
import { ensureEngine } from './engine.ts'
import { baseImages } from './images.ts'

export interface DockerSite {
  engine: Engine
  owner: Owner
  instances: Instances
  images: { busybox: string; node: string }
  /** The spec of a long-running instance, with the changes applied; the first call creates the network. */
  spec(changes?: Partial<InstanceSpec>): Promise<InstanceSpec>
}

/** Small blocks in a range of their own, so that tests that run at the same time find room. */
export const testSubnet = '10.231.0.0/26'

export async function openDockerSite(t: TestContext): Promise<DockerSite> {
  const engine = openEngine(await ensureEngine())
  const owner = testOwner()
  t.after(async () => {
    await removeAll(engine, owner.prefix)
    engine.close()
  })
  const images = await baseImages()
  return {
    engine,
    owner,
    instances: openInstances(engine, owner),
    images,
    spec: specMaker(engine, owner, images),
  }
}

export function testOwner(): Owner {
  return {
    prefix: `berth-test-${randomBytes(4).toString('hex')}`,
    serverId: randomBytes(8).toString('hex'),
    mac: testMac,
  }
}

/** Looks until there is something, for at most `deadlineMs`. */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  deadlineMs = 120_000,
): Promise<T> {
  const deadline = performance.now() + deadlineMs
  for (;;) {
    const found = await look()
    if (found) return found
    if (performance.now() > deadline) throw new Error(`timed out after ${deadlineMs} ms: ${what}`)
    await delay(25)
  }
}

export function specMaker(engine: Engine, owner: Owner, images: { busybox: string }): DockerSite['spec'] {
  const deployId = 'dep-01hzy7k9m0000000000000test'
  let count = 0
  return async (changes = {}) => {
    const network = await ensureNetwork(engine, owner, testSubnet)
    const index = count++
    return {
      name: containerName(owner, { serviceName: 'web', deployId: changes.deployId ?? deployId, index }),
      image: images.busybox,
      serviceId: 'svc-01hzy7k9m0000000000000test',
      serviceName: 'web',
      deployId,
      index,
      network: network.name,
      address: addressAt(parseSubnet(network.subnet)!, index + 2),
      env: [],
      command: 'sleep 600',
      memoryLimitMb: 64,
      cpuLimit: 0.5,
      pidsLimit: 64,
      volume: null,
      restart: 'no',
      ...changes,
    }
  }
}

export async function removeAll({ docker, call }: Engine, prefix: string): Promise<void> {
  const gone = (what: string, removal: () => Promise<unknown>) => acceptStatus(404, call(what, removal))
  const filters = { label: [`${labels.instance}=${prefix}`] }
  for (const { Id } of await docker.listContainers({ all: true, filters })) {
    await gone('clean up', () => docker.getContainer(Id).remove({ force: true, v: true }))
  }
  for (const { Id } of await docker.listNetworks({ filters })) {
    await gone('clean up', () => docker.getNetwork(Id).remove())
  }
  for (const { Name } of (await docker.listVolumes({ filters })).Volumes ?? []) {
    await gone('clean up', () => docker.getVolume(Name).remove())
  }
  for (const { RepoTags } of await docker.listImages({ filters: { reference: [`${prefix}/*`] } })) {
    for (const name of RepoTags ?? []) await gone('clean up', () => docker.getImage(name).remove())
  }
}
