// The volumes that Docker creates for the VOLUME paths of an image. They have random names, and are removed
// with their container unless they are kept.
import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream'
import type { ContainerInspectInfo } from 'dockerode'
import { extract, type Header } from 'tar-stream'
import { instanceKind, labels } from '../engine/names.ts'
import { type EngineScope, type InspectedContainer, removeContainer } from './find-container.ts'
import { withReference } from './reference-container.ts'
import { isAnonymous, removeVolume } from './volumes.ts'

export interface ImageVolume {
  /** Name of the Docker volume. */
  volume: string
  /** In the container. */
  path: string
}

/** Comparing takes as long as reading; what takes longer counts as changed. */
const compareMs = 60_000

export function imageVolumesOf({ Mounts: mounts }: ContainerInspectInfo): ImageVolume[] {
  return mounts.flatMap(({ Type, Name: volume, Destination: path }) =>
    Type === 'volume' && volume !== undefined && isAnonymous(volume) ? [{ volume, path }] : [],
  )
}

/** Kills and removes the container of an instance, with those of its volumes that are not kept. */
export async function removeInstance(scope: EngineScope, found: InspectedContainer): Promise<void> {
  const isInstance = found.info.Config.Labels[labels.kind] === instanceKind
  const kept = isInstance ? ((await scope.keepVolumes?.(found)) ?? []) : []
  await removeContainer(scope, found, { keepsVolumes: kept.length > 0 })
  if (kept.length === 0) return
  for (const { volume } of imageVolumesOf(found.info))
    if (!kept.includes(volume)) await removeVolume(scope.engine, scope.owner, volume)
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

type Archived = Pick<InspectedContainer, 'container'>['container']

async function hasSameFiles(
  { engine }: EngineScope,
  [one, other]: [Archived, Archived],
  path: string,
): Promise<boolean> {
  const deadline = AbortSignal.timeout(compareMs)
  const open = async (container: Archived) => {
    const archive = await engine.call(`read ${path}`, () =>
      container.getArchive({ path, abortSignal: deadline }),
    )
    const entries = extract()
    // A cut archive ends the entries with an error, which their reader gets.
    pipeline(archive, entries, () => undefined)
    // Without a listener from the start, the first entry would be lost.
    return { entries, next: entries[Symbol.asyncIterator]().next }
  }
  try {
    const [left, right] = await Promise.all([open(one), open(other)])
    try {
      return await areEqual(left.next, right.next)
    } finally {
      left.entries.destroy()
      right.entries.destroy()
    }
  } catch (error) {
    if (deadline.aborted) return false
    throw error
  }
}

type Entry = AsyncIterable<unknown> & { header: Header }

type NextEntry = () => Promise<IteratorResult<Entry>>

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

async function hashOf(entry: Entry): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of entry) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
