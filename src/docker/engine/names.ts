// Names and labels of everything Berth creates in Docker, as functions of the ids of its actors. Names of
// images and instances carry a MAC, because a build may use every image whose name it knows. A name alone
// proves nothing about a container: without both owner labels it belongs to another owner.

/** What names the builds of a server. */
export interface BuildOwner {
  prefix: string
  serverId: string
}

/** Its prefix, the random id created with its data directory, and a MAC with the key of that directory. */
export interface Owner extends BuildOwner {
  mac(text: string): string
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
/** The kind of the container that runs a command before anything of a deploy starts. */
export const preDeployKind = 'pre-deploy'
/** The index of the pre-deploy container, after those of the instances (at most 50). */
export const preDeployIndex = 50
export const edgeKind = 'edge'
export const datastoreKind = 'datastore'
/** The kind of a container that runs a program for a backup, a restore or a disk. */
export const toolKind = 'tool'
export const jobKind = 'job'
export const diskKind = 'disk'
/** The kind of a volume that Docker creates for a VOLUME path of an image. */
export const imageVolumeKind = 'image-volume'
export type ContainerKind =
  | typeof instanceKind
  | typeof preDeployKind
  | typeof datastoreKind
  | typeof toolKind
  | typeof jobKind

export function ownerLabels(owner: Owner): Record<string, string> {
  return { [labels.instance]: owner.prefix, [labels.server]: owner.serverId }
}

export function ownerFilter(owner: Owner): string[] {
  return labelFilter(ownerLabels(owner))
}

export function labelFilter(wanted: Record<string, string>): string[] {
  return Object.entries(wanted).map(([key, value]) => `${key}=${value}`)
}

export function isOurs(owner: Owner, found: Record<string, string> | null | undefined): boolean {
  return found?.[labels.instance] === owner.prefix && found[labels.server] === owner.serverId
}

export interface NamedContainer {
  serviceName: string
  deployId: string
  index: number
  kind?: ContainerKind
}

/** `<prefix>-<service>-<MAC>-<index>`. All containers can look it up, so it has no id and its own MAC. */
export function containerName(owner: Owner, container: NamedContainer): string {
  const mac = owner.mac(`container ${container.deployId}`)
  return `${owner.prefix}-${container.serviceName}-${mac}-${endOf(container)}`
}

/** The name of the same container before names carried a MAC. */
export function formerContainerName(owner: Owner, container: NamedContainer): string {
  return `${owner.prefix}-${container.serviceName}-${ulidOf(container.deployId)}-${endOf(container)}`
}

function endOf({ kind = instanceKind, index }: NamedContainer): string {
  return kind === instanceKind ? String(index) : kind
}

export function preDeployName(owner: Owner, serviceName: string, deployId: string): string {
  return containerName(owner, { serviceName, deployId, index: preDeployIndex, kind: preDeployKind })
}

export function jobName(owner: Owner, serviceName: string, jobId: string): string {
  return containerName(owner, { serviceName, deployId: jobId, index: 0, kind: jobKind })
}

export function volumeName(owner: Owner, serviceId: string): string {
  return `${owner.prefix}-${serviceId}`
}

export function diskName(owner: Owner, { id, disk_volume }: { id: string; disk_volume?: string }): string {
  return disk_volume ?? volumeName(owner, id)
}

/** The name of a datastore's container and of its volume, which may have the id in place of the name. */
export function datastoreName(owner: Owner, name: string): string {
  return `${owner.prefix}-datastore-${name}`
}

export function toolName(owner: Owner, id: string): string {
  return `${owner.prefix}-tool-${id}`
}

export function imageRepository(owner: Owner, serviceName: string): string {
  return `${owner.prefix}/${serviceName}`
}

/** `<prefix>/<service>:<deploy id>-<MAC>`. */
export function imageName(owner: Owner, serviceName: string, deployId: string): string {
  return `${imageRepository(owner, serviceName)}:${deployId}-${imageMac(owner, deployId)}`
}

function imageMac(owner: Owner, deployId: string): string {
  return owner.mac(`image ${deployId}`)
}

/** The image built from the Dockerfile of a static site, until the site is extracted from it. */
export function treeName(owner: Owner, serviceName: string, deployId: string): string {
  return `${imageName(owner, serviceName, deployId)}.tree`
}

const deployTag = /^(dep-[0-7][0-9a-hjkmnp-tv-z]{25})(?:-([a-z2-7]{16}))?(\.tree)?$/

export interface ImageOrigin {
  service: string
  deployId: string
  isTree: boolean
}

/** An image without files. No service's image has this tag. */
export function emptyImageName(owner: Owner): string {
  return `${imageRepository(owner, 'empty')}:1`
}

/** The reverse of `imageName` and `treeName`; null for an image that is not ours. */
export function parseImageName(owner: Owner, name: string): ImageOrigin | null {
  const [repository = '', tag = ''] = name.split(':')
  const [prefix, service, ...more] = repository.split('/')
  const [, deployId, mac, tree] = deployTag.exec(tag) ?? []
  if (prefix !== owner.prefix || !service || more.length > 0 || !deployId) return null
  if (mac !== imageMac(owner, deployId)) return null
  return { service, deployId, isTree: tree !== undefined }
}

/** The current name of an image that has the name of the former version; null for any other name. */
export function currentImageName(
  owner: Owner,
  formerName: string,
): { name: string; deployId: string } | null {
  const [, deployId, mac] = deployTag.exec(formerName.split(':')[1] ?? '') ?? []
  if (!deployId || mac !== undefined) return null
  const name = formerName.replace(deployId, `${deployId}-${imageMac(owner, deployId)}`)
  return parseImageName(owner, name) && { name, deployId }
}

/** The name that the image had before names carried a MAC. An image that is not ours keeps its name. */
export function withoutMac(name: string): string {
  return name.replace(/(:dep-[0-9a-z]{26})-[a-z2-7]{16}$/, '$1')
}

/** A host name that every step of our builds finds in its /etc/hosts: steps can carry no label. */
export function buildHost(owner: BuildOwner): string {
  return `${owner.prefix}-${owner.serverId}.invalid`
}

export function buildCgroup(owner: BuildOwner): string {
  return `${owner.prefix}-${owner.serverId}-builds`
}

function ulidOf(id: string): string {
  return id.slice(id.indexOf('-') + 1)
}
