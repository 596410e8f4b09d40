// Which HAProxy runs, and which one an upgrade would start.
import { withTimeout } from '../../async/with-timeout.ts'
import { ensureEdgeImage, officialEdgeImage } from '../../base-images/edge-image.ts'
import { hasOfficialImage } from '../../base-images/official-image.ts'
import { readEdgeImage } from '../../docker/containers/edge-container.ts'
import { pullImage } from '../../docker/images/pull.ts'
import type { EdgeFiles } from '../../edge/files.ts'
import { hostVersion } from '../../edge/host-process.ts'
import { openRuntime } from '../../edge/runtime.ts'
import type { Launcher } from './launcher.ts'
import type { EdgePorts } from './ports.ts'

/** `identity` decides whether two are equal: the id of an image, or the version of a program. */
export interface Software {
  version: string | null
  image: string | null
  identity: string
}

export interface SoftwareParts {
  ports: EdgePorts
  mode: 'container' | 'host'
  /** --edge-image; empty for the default. */
  image: string
}

const pullTimeoutMs = 10 * 60_000

/** Returns the running software. Throws `edge_unavailable`, and the errors of engine calls. */
export async function readRunning(files: EdgeFiles, launcher: Pick<Launcher, 'imageOf'>): Promise<Software> {
  const info = await openRuntime(files.adminSocket).ask('show info')
  const version = /^Version: ([\w.+~-]+)/m.exec(info)?.[1] ?? null
  const image = await launcher.imageOf(files)
  return { version, image: image?.name ?? null, identity: image?.id ?? version ?? '' }
}

/**
 * The software that a start would use now. An image is on the engine when this resolves. Throws
 * `edge_image_missing`, or the reason why an image cannot be pulled.
 */
export async function findConfigured(parts: SoftwareParts, signal: AbortSignal): Promise<Software> {
  if (parts.mode === 'host') {
    const version = await hostVersion(signal)
    return { version, image: null, identity: version }
  }
  await parts.ports.engineReady(signal)
  const image = await wantedImage(parts, signal)
  const edgeImage = await readEdgeImage(parts.ports.engine, image)
  return { version: edgeImage?.version ?? null, image, identity: edgeImage?.id ?? image }
}

/**
 * Whether the available software replaces the running one. By default an older version does not: it is
 * the fallback for a registry that does not respond. An operator who names an image may go back to an
 * older version.
 */
export function isReplacement(running: Software, wanted: Software, namedImage: string): boolean {
  if (running.identity === wanted.identity) return false
  return namedImage !== '' || !isOlder(wanted.version, running.version)
}

/** Compares the release, such as 2.6; unknown versions are not older. */
function isOlder(version: string | null, than: string | null): boolean {
  const [release, other] = [version, than].map((text) => /^(\d+)\.(\d+)/.exec(text ?? ''))
  if (!release || !other) return false
  const [major, minor] = [Number(release[1]) - Number(other[1]), Number(release[2]) - Number(other[2])]
  return major < 0 || (major === 0 && minor < 0)
}

/** The name of an image that is on the engine when this resolves. */
export async function wantedImage({ ports, image }: SoftwareParts, signal: AbortSignal): Promise<string> {
  const { engine, logger } = ports
  if (image === '') {
    if (await hasOfficialImage(engine, officialEdgeImage, signal)) return officialEdgeImage
    const onMake = () => logger.info('building the edge image from Debian packages')
    return ensureEdgeImage(engine, { onMake, signal })
  }
  if ((await readEdgeImage(engine, image)) !== null) return image
  const pull = (bound: AbortSignal) =>
    pullImage(engine, { reference: image, credentials: null, signal: bound, onLine: () => undefined })
  await withTimeout(pullTimeoutMs, signal, pull)
  return image
}
