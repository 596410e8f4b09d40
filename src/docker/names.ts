// Names and labels of everything Berth makes in Docker, as pure functions of the ids of its actors.
// A name alone proves nothing: what lacks one of the two owner labels belongs to somebody else.

/** Who we are on this engine: the prefix of the server and the random id made with its data directory. */
export interface Owner {
  prefix: string
  serverId: string
}

export const labels = {
  instance: 'berth.instance',
  server: 'berth.server',
  kind: 'berth.kind',
  id: 'berth.id',
  service: 'berth.service',
  serviceId: 'berth.service-id',
  spec: 'berth.spec',
  index: 'berth.index',
} as const

/** The kind of every instance's container; datastores and the edge have others. */
export const instanceKind = 'deploy'

export function ownerLabels(owner: Owner): Record<string, string> {
  return { [labels.instance]: owner.prefix, [labels.server]: owner.serverId }
}

/** The label filter that lists our own objects only. */
export function ownerFilter(owner: Owner): string[] {
  return labelFilter(ownerLabels(owner))
}

export function labelFilter(wanted: Record<string, string>): string[] {
  return Object.entries(wanted).map(([key, value]) => `${key}=${value}`)
}

export function isOurs(owner: Owner, found: Record<string, string> | null | undefined): boolean {
  return found?.[labels.instance] === owner.prefix && found[labels.server] === owner.serverId
}

/** `<prefix>-<service>-<ulid of the deploy>-<index>`. */
export function containerName(owner: Owner, serviceName: string, deployId: string, index: number): string {
  return `${owner.prefix}-${serviceName}-${ulidOf(deployId)}-${index}`
}

export function volumeName(owner: Owner, serviceId: string): string {
  return `${owner.prefix}-${serviceId}`
}

export function imageRepository(owner: Owner, serviceName: string): string {
  return `${owner.prefix}/${serviceName}`
}

export function imageName(owner: Owner, serviceName: string, deployId: string): string {
  return `${imageRepository(owner, serviceName)}:${deployId}`
}

/** A person's own `<prefix>/api:latest` is not one of ours. */
const deployTag = /^dep-[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** The reverse of `imageName`; null for an image that is not ours. */
export function parseImageName(owner: Owner, name: string): { service: string; deployId: string } | null {
  const [repository = '', deployId] = name.split(':')
  const [prefix, service, ...more] = repository.split('/')
  if (prefix !== owner.prefix || !service || more.length > 0 || !deployTag.test(deployId ?? '')) return null
  return { service, deployId: deployId! }
}

function ulidOf(id: string): string {
  return id.slice(id.indexOf('-') + 1)
}
