// Whether the Docker prefix belongs to this server. A daemon with a wrong or empty data directory has another
// server id than the objects of the prefix, and must not start: it would remove them as orphans.
import { Failure } from '../../errors.ts'
import type { Engine } from './client.ts'
import { labels, type Owner } from './names.ts'

/** Throws `foreign_objects` if objects of our prefix belong to a server that is not in `predecessors`. */
export async function requireOwnPrefix(engine: Engine, owner: Owner, predecessors: string[]): Promise<void> {
  const { prefix, serverId } = owner
  const known = [serverId, ...predecessors]
  const foreign = (await listObjects(engine, prefix)).filter((object) => !known.includes(object.serverId))
  if (foreign.length === 0) return
  const names = foreign.map(({ name }) => name).sort()
  throw new Failure(
    'foreign_objects',
    `Docker has objects of the prefix '${prefix}' that belong to another data directory: ${names.join(', ')}`,
    'start with the data directory they belong to, or a copy (docs/moving.md), or choose another --prefix',
  )
}

async function listObjects({ call, docker }: Engine, prefix: string) {
  const filters = { label: [`${labels.instance}=${prefix}`] }
  const [containers, networks, volumes] = await Promise.all([
    call('list containers', (abortSignal) => docker.listContainers({ all: true, filters, abortSignal })),
    call('list networks', (abortSignal) => docker.listNetworks({ filters, abortSignal })),
    call('list volumes', (abortSignal) => docker.listVolumes({ filters, abortSignal })),
  ])
  const object = (name: string, marks: Record<string, string> | null | undefined) => ({
    name,
    /** Empty if no label names the server. */
    serverId: marks?.[labels.server] ?? '',
  })
  return [
    ...containers.map(({ Names, Labels }) => object(`container ${Names[0]?.replace(/^\//, '')}`, Labels)),
    ...networks.map(({ Name, Labels }) => object(`network ${Name}`, Labels)),
    ...(volumes.Volumes ?? []).map(({ Name, Labels }) => object(`volume ${Name}`, Labels)),
  ]
}
