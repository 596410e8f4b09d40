// What another server left on this engine under our prefix. A daemon with a wrong or empty data directory has
// another server id than the objects it finds, and must not start: it would take them for nobody's.
import type { Engine } from './client.ts'
import { labels, type Owner } from './names.ts'

/**
 * Names like `container berth-web-…-0`, of every container, network and volume of our prefix that is not
 * ours.
 */
export async function listForeignObjects(engine: Engine, owner: Owner): Promise<string[]> {
  const { call, docker } = engine
  const filters = { label: [`${labels.instance}=${owner.prefix}`] }
  const [containers, networks, volumes] = await Promise.all([
    call('list containers', (abortSignal) => docker.listContainers({ all: true, filters, abortSignal })),
    call('list networks', (abortSignal) => docker.listNetworks({ filters, abortSignal })),
    call('list volumes', (abortSignal) => docker.listVolumes({ filters, abortSignal })),
  ])
  const objects = [
    ...containers.map((found) => ({ kind: 'container', name: nameOf(found.Names), labels: found.Labels })),
    ...networks.map((found) => ({ kind: 'network', name: found.Name, labels: found.Labels })),
    ...(volumes.Volumes ?? []).map((found) => ({ kind: 'volume', name: found.Name, labels: found.Labels })),
  ]
  const foreign = objects.filter((object) => object.labels?.[labels.server] !== owner.serverId)
  return foreign.map(({ kind, name }) => `${kind} ${name}`).sort()
}

function nameOf(names: string[]): string {
  return names[0]?.replace(/^\//, '') ?? ''
}
