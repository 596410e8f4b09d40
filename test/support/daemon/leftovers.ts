// The Docker objects of a daemon, by prefix: to prove that none is left, and to remove exactly those.
import { existsSync, readdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Docker from 'dockerode'
import { ensureEngine } from '../docker/engine.ts'
import { removeRules } from '../system/firewall.ts'

export interface Leftovers {
  containers: string[]
  networks: string[]
  volumes: string[]
  images: string[]
}

/** The names of all objects with the prefix, sorted. */
export async function findLeftovers(prefix: string): Promise<Leftovers> {
  const docker = await connect()
  const filters = { label: [`berth.instance=${prefix}`] }
  const [containers, networks, volumes, images] = await Promise.all([
    docker.listContainers({ all: true, filters }),
    docker.listNetworks({ filters }),
    docker.listVolumes({ filters }),
    docker.listImages({ filters: { reference: [`${prefix}/*`] } }),
  ])
  return {
    containers: containers.map(({ Names }) => Names[0]!.slice(1)).sort(),
    networks: networks.map(({ Name }) => Name).sort(),
    volumes: (volumes.Volumes ?? []).map(({ Name }) => Name).sort(),
    images: images.flatMap(({ RepoTags }) => RepoTags ?? []).sort(),
  }
}

/** The names of the containers and images of a deploy. */
export async function findObjectsOf(prefix: string, deployId: string): Promise<string[]> {
  const filters = { label: [`berth.instance=${prefix}`, `berth.id=${deployId}`] }
  const containers = await (await connect()).listContainers({ all: true, filters })
  const { images } = await findLeftovers(prefix)
  return [
    ...containers.map(({ Names }) => Names[0]!.slice(1)),
    ...images.filter((name) => name.includes(deployId)),
  ]
}

/** Removes exactly the objects with the prefix. */
export async function removeLeftovers(prefix: string): Promise<void> {
  const docker = await connect()
  const { containers, networks, volumes, images } = await findWithNetwork(prefix)
  const gone = (removal: Promise<unknown>) => removal.catch(() => undefined)
  await Promise.all(
    containers.map((name) => gone(docker.getContainer(name).remove({ force: true, v: true }))),
  )
  await Promise.all(volumes.map((name) => gone(docker.getVolume(name).remove())))
  await Promise.all(networks.map((name) => gone(docker.getNetwork(name).remove())))
  await removeRules(prefix)
  await Promise.all(images.map((name) => gone(docker.getImage(name).remove({ force: true }))))
  removeCgroups(prefix)
}

/** Docker completes what a daemon asked for before it was killed: its network may come a moment later. */
async function findWithNetwork(prefix: string): Promise<Leftovers> {
  for (let looks = 1; ; looks++) {
    const found = await findLeftovers(prefix)
    if (found.networks.length > 0 || looks === 4) return found
    await sleep(100)
  }
}

/** The control groups of a killed daemon's builds. */
function removeCgroups(prefix: string): void {
  for (const controller of ['memory', 'cpu', 'pids', '.']) {
    const root = join('/sys/fs/cgroup', controller)
    for (const name of existsSync(root) ? readdirSync(root) : []) {
      if (name.startsWith(`${prefix}-`) && name.endsWith('-builds')) rmdirSync(join(root, name))
    }
  }
}

async function connect(): Promise<Docker> {
  const address = await ensureEngine()
  if (address.startsWith('unix://')) return new Docker({ socketPath: address.slice('unix://'.length) })
  const { hostname, port } = new URL(address)
  return new Docker({ host: hostname, port: Number(port) })
}
