// Images. Berth's own are recognized by their name only, `<prefix>/<service>:<deploy id>-<MAC>`, because
// labels come from the author of the Dockerfile.
import { posix } from 'node:path'
import type { ImageInspectInfo } from 'dockerode'
import { Failure } from '../../errors.ts'
import { acceptStatus, type Engine, orNull } from '../engine/client.ts'
import { type ImageOrigin, type Owner, ownerFilter, parseImageName } from '../engine/names.ts'

export interface Image {
  id: string
  /** TCP ports, ascending. */
  exposedPorts: number[]
  workingDir: string
  env: string[]
  /** As in USER; empty for root. */
  user: string
  /** The paths of VOLUME, without a slash at the end. */
  volumePaths: string[]
  /** Whether what it runs first is an init process itself. */
  hasInit: boolean
  sizeBytes: number
}

export interface OwnImage extends ImageOrigin {
  name: string
  createdAt: string
  sizeBytes: number
}

/** Each container has the labels of its image, and Docker lists them with it. Buildpacks write large ones. */
const maxLabels = 1000
const maxLabelChars = 1024 * 1024

/** Null when the engine does not have it; nothing is pulled. Throws `source_invalid` for too many labels. */
export async function inspectImage({ call, docker }: Engine, name: string): Promise<Image | null> {
  const info = await orNull(call(`inspect the image ${name}`, () => docker.getImage(name).inspect()))
  if (!info) return null
  assertFewLabels(name, info.Config.Labels ?? {})
  const workingDir = info.Config.WorkingDir || '/'
  const env = info.Config.Env ?? []
  const volumePaths = volumePathsOf(info)
  const { Id: id, Size: sizeBytes } = info
  const user = info.Config.User ?? ''
  const hasInit = runsInit(info)
  return { id, exposedPorts: exposedPorts(info), workingDir, env, user, volumePaths, hasInit, sizeBytes }
}

function assertFewLabels(name: string, labels: Record<string, string>): void {
  const entries = Object.entries(labels)
  const chars = entries.reduce((sum, [key, value]) => sum + key.length + value.length, 0)
  if (entries.length <= maxLabels && chars <= maxLabelChars) return
  const limits = `more than ${maxLabels} labels, or more than 1 MiB of them`
  throw new Failure('source_invalid', `the image ${name} has ${limits}`)
}

/** Takes our name off the image; its layers go when no other name holds them. Gone already is fine. */
export async function removeImage({ call, docker }: Engine, owner: Owner, name: string): Promise<void> {
  requireOwnName(owner, name)
  await acceptStatus(
    404,
    call(`remove the image ${name}`, () => docker.getImage(name).remove()),
  )
}

/** Those that were built for this owner. Docker prunes for one caller at a time. */
export async function removeNamelessImages({ call, docker }: Engine, owner: Owner): Promise<void> {
  const filters = { dangling: ['true'], label: ownerFilter(owner) }
  await acceptStatus(
    409,
    call('remove images without a name', (abortSignal) => docker.pruneImages({ filters, abortSignal })),
  )
}

/** Names an image, given by name, digest or id. It then stays when its other names move. */
export async function tagImage(
  { call, docker }: Engine,
  owner: Owner,
  source: string,
  name: string,
): Promise<void> {
  requireOwnName(owner, name)
  const [repo = '', tag = ''] = name.split(':')
  await call(`tag the image ${source}`, (abortSignal) =>
    docker.getImage(source).tag({ repo, tag, abortSignal }),
  )
}

export async function listImages(
  { call, docker }: Engine,
  owner: Owner,
  service?: string,
): Promise<OwnImage[]> {
  const filters = { reference: [`${owner.prefix}/${service ?? '*'}`] }
  const images = await call('list images', (abortSignal) => docker.listImages({ filters, abortSignal }))
  return images
    .flatMap((image) =>
      (image.RepoTags ?? []).map((name) => ({ name, image, ours: parseImageName(owner, name) })),
    )
    .flatMap(({ name, image, ours }) => (ours ? [{ name, ...ours, ...measures(image) }] : []))
    .filter((image) => service === undefined || image.service === service)
}

function measures({ Created, Size }: { Created: number; Size: number }) {
  return { createdAt: new Date(Created * 1000).toISOString(), sizeBytes: Size }
}

function volumePathsOf(info: ImageInspectInfo): string[] {
  const paths = Object.keys(info.Config.Volumes ?? {}).map((path) => posix.join(path, '.'))
  return [...new Set(paths)].sort()
}

function exposedPorts(info: ImageInspectInfo): number[] {
  const ports = Object.keys(info.Config.ExposedPorts ?? {}).filter((port) => port.endsWith('/tcp'))
  return ports.map((port) => Number.parseInt(port, 10)).sort((a, b) => a - b)
}

function requireOwnName(owner: Owner, name: string): void {
  if (parseImageName(owner, name) !== null) return
  throw new Failure('docker_error', `the image '${name}' does not belong to this server and is left alone`)
}

/** s6-overlay refuses to run unless it is process 1. tini and dumb-init would do the work twice. */
const inits = [
  'init',
  'systemd',
  's6-svscan',
  'tini',
  'tini-static',
  'docker-init',
  'dumb-init',
  'catatonit',
  'my_init',
  'runsvdir',
  'runit',
  'runit-init',
]

/** By the first word of its entrypoint, or of its command if it has no entrypoint. */
function runsInit({ Config: { Entrypoint: entrypoint, Cmd: command } }: ImageInspectInfo): boolean {
  const [first = ''] = [entrypoint ?? [], command ?? []].flat()
  return inits.includes(first.slice(first.lastIndexOf('/') + 1))
}
