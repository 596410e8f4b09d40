// The volumes that Docker creates for the VOLUME paths of an image. They have random names, and are removed
// with their container unless they are kept.
import { createHash } from 'node:crypto'
import type { Container, ContainerInspectInfo } from 'dockerode'
import type { Header } from 'tar-stream'
import { acceptStatus } from '../engine/client.ts'
import { instanceKind, labels } from '../engine/names.ts'
import { type ArchiveEntry, type NextEntry, readArchive } from './archive-entries.ts'
import { type EngineScope, type InspectedContainer, removeContainer } from './find-container.ts'
import { withReference } from './reference-container.ts'
import { isAnonymous, removeVolume } from './volumes.ts'

export interface ImageVolume {
  volume: string
  path: string
}

/** Comparing takes as long as reading; what takes longer counts as changed. */
const compareMs = 60_000

/** Not the disk of a service, which has such a name too if it was the volume of an image once. */
export function imageVolumesOf({ Mounts: mounts, HostConfig }: ContainerInspectInfo): ImageVolume[] {
  const disks = (HostConfig.Mounts ?? []).map(({ Source }) => Source)
  return mounts.flatMap(({ Type, Name: volume, Destination: path }) =>
    Type === 'volume' && volume !== undefined && isAnonymous(volume) && !disks.includes(volume)
      ? [{ volume, path }]
      : [],
  )
}

/** Kills and removes the container of an instance, with those of its volumes that are not kept. */
export async function removeInstance(scope: EngineScope, found: InspectedContainer): Promise<void> {
  const kept = await keepVolumesOf(scope, found)
  await removeContainer(scope, found, { keepsVolumes: kept.length > 0 })
  if (kept.length === 0) return
  for (const { volume } of imageVolumesOf(found.info))
    if (!kept.includes(volume)) await removeVolume(scope.engine, scope.owner, volume)
}

async function keepVolumesOf(
  { engine, keepVolumes }: EngineScope,
  found: InspectedContainer,
): Promise<string[]> {
  const { container, info } = found
  const isInstance = info.Config.Labels[labels.kind] === instanceKind
  if (!isInstance || keepVolumes === undefined || imageVolumesOf(info).length === 0) return []
  // What it writes after the comparison would be lost.
  const killed = engine.call(`kill ${info.Name}`, (abortSignal) => container.kill({ abortSignal }))
  await acceptStatus(409, acceptStatus(404, killed))
  return keepVolumes(found)
}

/** The volumes of a stopped container whose files are not those of the image. Owners and modes may differ. */
export async function findChangedVolumes(
  scope: EngineScope,
  { container, info }: InspectedContainer,
): Promise<ImageVolume[]> {
  const volumes = imageVolumesOf(info)
  if (volumes.length === 0) return []
  const actorId = info.Config.Labels[labels.id] ?? ''
  const reference = { key: `volumes-${info.Id.slice(0, 12)}`, actorId, image: info.Image }
  const changed = await withReference(scope, reference, async (original) => {
    const found: ImageVolume[] = []
    for (const one of volumes)
      if (!(await hasSameFiles(scope, [container, original], one.path))) found.push(one)
    return found
  })
  return changed ?? volumes
}

async function hasSameFiles(
  { engine }: EngineScope,
  [one, other]: [Container, Container],
  path: string,
): Promise<boolean> {
  const deadline = AbortSignal.timeout(compareMs)
  const options = { timeoutMs: 2 * compareMs, signal: deadline }
  const compare = (nextLeft: NextEntry) => {
    const right = { container: other, path }
    return readArchive(engine, right, (nextRight) => areEqual(nextLeft, nextRight), options)
  }
  try {
    return await readArchive(engine, { container: one, path }, compare, options)
  } catch (error) {
    if (deadline.aborted) return false
    throw error
  }
}

/** The engine lists the files of a folder in the order of their names. */
async function areEqual(nextLeft: NextEntry, nextRight: NextEntry): Promise<boolean> {
  for (;;) {
    const [left, right] = await Promise.all([nextLeft(), nextRight()])
    if (left.done || right.done) return left.done === right.done
    if (identity(left.value.header) !== identity(right.value.header)) return false
    const [leftHash, rightHash] = await Promise.all([hashOf(left.value), hashOf(right.value)])
    if (leftHash !== rightHash) return false
  }
}

function identity({ name, type, size, linkname }: Header): string {
  return JSON.stringify([name, type, size, linkname])
}

async function hashOf(entry: ArchiveEntry): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of entry) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
