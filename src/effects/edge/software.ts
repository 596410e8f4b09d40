// Which HAProxy runs, and which one an upgrade would start.
import { withTimeout } from '../../async/with-timeout.ts'
import {
  listEdgeContainers,
  readEdgeImage,
  resolveEdgeImage,
} from '../../docker/containers/edge-container.ts'
import { findNewestImage, obtainOfficialImage } from '../../docker/images/official-image.ts'
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

/** HAProxy 3.2.24 LTS on Alpine, all architectures: as the official images list it. */
const officialImage = 'haproxy@sha256:686211da34aba401814bb109c813db6a579491bc8753bfd81b78cce7d1e02f7c'
const pullTimeoutMs = 10 * 60_000

/** Returns the running software. Throws `edge_unavailable`, and the errors of engine calls. */
export async function readRunning(files: EdgeFiles, launcher: Pick<Launcher, 'imageOf'>): Promise<Software> {
  const info = await openRuntime(files.adminSocket).ask('show info')
  const version = /^Version: ([\w.+~-]+)/m.exec(info)?.[1] ?? null
  const image = await launcher.imageOf(files)
  return { version, image: image?.name ?? null, identity: image?.id ?? version ?? '' }
}

/** An image is on the engine when this resolves. Throws `edge_image_missing`, or why a pull fails. */
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

export async function wantedImage({ ports, image }: SoftwareParts, signal: AbortSignal): Promise<string> {
  const { engine, logger } = ports
  if (image === '') {
    const wanted = {
      reference: officialImage,
      findOther: () => findOtherImage(ports),
      onOther: (facts: object) => logger.warn(facts, 'the official edge image cannot be pulled'),
      missingCode: 'edge_image_missing',
      option: '--edge-image',
    }
    return obtainOfficialImage(engine, wanted, signal)
  }
  if ((await readEdgeImage(engine, image)) !== null) return image
  const pull = (bound: AbortSignal) =>
    pullImage(engine, { reference: image, credentials: null, signal: bound, onLine: () => undefined })
  await withTimeout(pullTimeoutMs, signal, pull)
  return image
}

/** The image of the present edge, or another one with HAProxy. Berth used to build `berth/edge`. */
export async function findOtherImage({
  engine,
  owner,
}: Pick<EdgePorts, 'engine' | 'owner'>): Promise<string | null> {
  for (const generation of (await listEdgeContainers(engine, owner)).sort((a, b) => b - a)) {
    const image = await resolveEdgeImage(engine, owner, generation)
    if (image && (await readEdgeImage(engine, image.name))) return image.name
  }
  return findNewestImage(engine, ['haproxy', 'localhost/berth/edge'])
}
