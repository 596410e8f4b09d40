// The Docker objects of one daemon, from the engine. Includes dangling images, which only the
// daemon would remove.
import { setTimeout as sleep } from 'node:timers/promises'
import Docker from 'dockerode'
import { withoutMac } from '../../src/docker/engine/names.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { ensureEngine } from '../support/docker/engine.ts'

interface Container {
  name: string
  deployId: string
  serviceId: string
  index: number
  isRunning: boolean
  restart: string
  address: string
}

export interface DockerState {
  containers: Container[]
  /** By service name and deploy. */
  images: { name: string; service: string; deployId: string }[]
  dangling: string[]
  networks: string[]
  volumes: string[]
}

export async function readDocker(
  prefix: string,
  isForeign: (text: string) => boolean = () => false,
): Promise<DockerState> {
  const socketPath = (await ensureEngine()).replace(/^unix:\/\//, '')
  const docker = new Docker({ socketPath })
  const found = await findLeftovers(prefix)
  const own = (names: string[]) => names.filter((name) => !isForeign(name))
  // The image without files, in which disks are read, stays.
  const isEmptyImage = (name: string) => name === `${prefix}/empty:1`
  const images = own(found.images).filter((name) => !isEmptyImage(name))
  const [containers, volumes] = [own(found.containers), own(found.volumes)]
  const filters = { label: [`berth.instance=${prefix}`], dangling: ['true'] }
  const dangling = await docker.listImages({ filters })
  const states = await Promise.all(containers.map((name) => readContainer(docker, name)))
  return {
    containers: states.filter((state) => state !== null),
    images: images.map((name) => {
      const [, service = '', deployId = ''] = /\/([^:]+):(.+)$/.exec(withoutMac(name)) ?? []
      return { name, service, deployId }
    }),
    dangling: dangling.map(({ Id }) => Id),
    networks: found.networks,
    volumes,
  }
}

/** Null if the container was removed in the meantime. */
async function readContainer(docker: Docker, name: string): Promise<Container | null> {
  const found = await docker
    .getContainer(name)
    .inspect()
    .catch(() => null)
  if (!found) return null
  const labels = found.Config.Labels
  const [network] = Object.values(found.NetworkSettings.Networks)
  return {
    name,
    deployId: labels['berth.id'] ?? '',
    serviceId: labels['berth.service-id'] ?? '',
    index: Number(labels['berth.index']),
    isRunning: found.State.Running,
    restart: found.HostConfig.RestartPolicy?.Name ?? '',
    address: network?.IPAMConfig?.IPv4Address ?? network?.IPAddress ?? '',
  }
}

const restMs = 2000
const restBoundMs = 60_000

/**
 * Waits until nothing changes. If a deploy of a service with a disk was canceled during its start, the
 * previous version restarts shortly after the cancel has completed.
 */
export async function untilAtRest(prefix: string): Promise<void> {
  const deadline = Date.now() + restBoundMs
  for (let before = ''; Date.now() < deadline; ) {
    const now = describeDocker(await readDocker(prefix)).join()
    if (now === before) return
    before = now
    await sleep(restMs)
  }
}

/** One line per object, as evidence. */
export function describeDocker(state: DockerState): string[] {
  const containers = state.containers.map(
    ({ name, isRunning, restart, address }) =>
      `container ${name} ${isRunning ? 'runs' : 'does not run'}, restart ${restart}, ${address}`,
  )
  const images = state.images.map(({ name }) => `image ${name}`)
  return [...containers, ...images, ...state.dangling.map((id) => `dangling image ${id}`)]
}
