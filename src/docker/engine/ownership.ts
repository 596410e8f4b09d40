// Finds objects of another server with the same prefix on this engine. A daemon with a wrong or empty data
// directory has a different server id than these objects and must not start, because it would remove them
// as orphans.
import type { Engine } from './client.ts'
import { edgeKind, labels, type Owner } from './names.ts'

export interface ForeignObject {
  kind: 'container' | 'network' | 'volume'
  name: string
  /** Docker's id of a container or network; the name of a volume. */
  id: string
  /** Empty if no label names the server. */
  serverId: string
  /** For a container: whether it is running or about to run. */
  isRunning: boolean
  isEdge: boolean
  /** Host directories that are mounted in the container. */
  directories: string[]
}

/** All containers, networks and volumes of our prefix that belong to another server. */
export async function listForeignObjects(engine: Engine, owner: Owner): Promise<ForeignObject[]> {
  const { call, docker } = engine
  const filters = { label: [`${labels.instance}=${owner.prefix}`] }
  const [containers, networks, volumes] = await Promise.all([
    call('list containers', (abortSignal) => docker.listContainers({ all: true, filters, abortSignal })),
    call('list networks', (abortSignal) => docker.listNetworks({ filters, abortSignal })),
    call('list volumes', (abortSignal) => docker.listVolumes({ filters, abortSignal })),
  ])
  const objects = [
    ...containers.map((found) => ({
      ...objectOf('container', nameOf(found.Names), found.Id, found.Labels),
      isRunning: ['running', 'restarting', 'paused'].includes(found.State),
      directories: found.Mounts.filter(({ Type }) => Type === 'bind').map(({ Source }) => Source),
    })),
    ...networks.map((found) => objectOf('network', found.Name, found.Id, found.Labels)),
    ...(volumes.Volumes ?? []).map((found) => objectOf('volume', found.Name, found.Name, found.Labels)),
  ]
  return objects.filter(({ serverId }) => serverId !== owner.serverId).sort(byText)
}

/** For example `container berth-web-…-0`. */
export function describeObject({ kind, name }: ForeignObject): string {
  return `${kind} ${name}`
}

function byText(one: ForeignObject, other: ForeignObject): number {
  return describeObject(one) < describeObject(other) ? -1 : 1
}

type Marks = Record<string, string> | null | undefined

function objectOf(kind: ForeignObject['kind'], name: string, id: string, marks: Marks): ForeignObject {
  const serverId = marks?.[labels.server] ?? ''
  const isEdge = marks?.[labels.kind] === edgeKind
  return { kind, name, id, serverId, isRunning: false, isEdge, directories: [] }
}

function nameOf(names: string[]): string {
  return names[0]?.replace(/^\//, '') ?? ''
}
