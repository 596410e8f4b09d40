// The files of a disk as a tar archive, and back, with their owners, modes and links. The engine reads and
// writes them in a container that is never started: it has nothing but the disk, so no path leads elsewhere.
// No image has to be pulled for it.
import { Readable } from 'node:stream'
import type { Container } from 'dockerode'
import { pack } from 'tar-stream'
import { Failure } from '../../errors.ts'
import { emptyImageName } from '../engine/names.ts'
import type { EngineScope } from './find-container.ts'
import { withReference } from './reference-container.ts'

/** The only folder in the archive. */
export const diskFolder = 'disk'

interface DiskUse {
  /** Of what uses it, such as an actor; one at a time. */
  id: string
  disk: string
}

/** A day: a disk may be large, and its file may come from a slow place. */
const transferMs = 24 * 60 * 60_000

/** The archive ends early, without an error, when a file has become shorter while it was read. */
export function readDisk<T>(
  scope: EngineScope,
  use: DiskUse,
  read: (archive: AsyncIterable<Uint8Array>) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return withDisk(scope, use, { isReadOnly: true }, (container) => {
    const work = async (abortSignal: AbortSignal) => {
      const archive = (await container.getArchive({ path: `/${diskFolder}`, abortSignal })) as Readable
      try {
        return await read(archive)
      } finally {
        // The engine holds the container until its response is read or closed.
        archive.destroy()
      }
    }
    return scope.engine.call(`read the disk ${use.disk}`, work, { timeoutMs: transferMs, signal })
  })
}

/** Files that the disk has are replaced or stay. */
export function writeDisk(
  scope: EngineScope,
  use: DiskUse,
  archive: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  return withDisk(scope, use, {}, async (container) => {
    const work = (abortSignal: AbortSignal) => {
      const content = Readable.from(archive, { objectMode: false })
      return container.putArchive(content, { path: '/', abortSignal })
    }
    await scope.engine.call(`write the disk ${use.disk}`, work, { timeoutMs: transferMs, signal })
  })
}

interface Access {
  isReadOnly?: boolean
  /** Whether nothing can be written next to the disk, where it would be lost. */
  isRootReadOnly?: boolean
}

/** The disk is the folder `diskFolder` of the container. */
export async function withDisk<T>(
  scope: EngineScope,
  { id, disk }: DiskUse,
  { isReadOnly = false, isRootReadOnly = false }: Access,
  work: (container: Container) => Promise<T>,
): Promise<T> {
  const image = emptyImageName(scope.owner)
  const volume = { name: disk, mountPath: `/${diskFolder}`, isReadOnly }
  const reference = { key: id, actorId: id, image, volume, isReadOnly: isRootReadOnly }
  const wrapped = async (container: Container) => ({ result: await work(container) })
  const done =
    (await withReference(scope, reference, wrapped)) ??
    (await importEmpty(scope, image).then(() => withReference(scope, reference, wrapped)))
  if (done !== null) return done.result
  throw new Failure('docker_error', `the image ${image} was removed while it was used`)
}

async function importEmpty({ engine }: EngineScope, name: string): Promise<void> {
  const [repo = '', tag = ''] = name.split(':')
  const archive = pack()
  archive.finalize()
  const work = async (abortSignal: AbortSignal) => {
    const said = await engine.docker.importImage(Readable.from(archive), { repo, tag, abortSignal })
    for await (const _ of said as AsyncIterable<unknown>);
  }
  await engine.call(`import the image ${name}`, work)
}
