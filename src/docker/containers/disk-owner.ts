// The owner of a disk. Docker creates volumes for root, and an image of another user could not write to them.
import { readdir } from 'node:fs/promises'
import { posix } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Container } from 'dockerode'
import { pack } from 'tar-stream'
import { readArchive } from './archive-entries.ts'
import type { EngineScope } from './find-container.ts'
import { isRoot, resolveUser, type UserIds } from './image-user.ts'
import { withReference } from './reference-container.ts'
import { findVolume } from './volumes.ts'

interface DiskUse {
  image: string
  /** The user that the image names, as in `USER`. */
  user: string
  volume: { name: string; mountPath: string }
  serviceId: string
}

/** Gives an empty disk of root to the user of the image. Returns that user, or null if nothing changed. */
export async function giveEmptyDisk(scope: EngineScope, use: DiskUse): Promise<UserIds | null> {
  if (isRoot(use.user) || (await hasFiles(scope, use.volume.name))) return null
  return inReference(scope, use, async (container) => {
    const [root, ...files] = await firstEntries(scope, container, use.volume.mountPath)
    if (root === undefined || files.length > 0 || root.uid !== 0) return null
    const ids = await resolveUser(scope, container, use.user)
    if (ids !== null) await chownFolder(scope, container, use.volume.mountPath, { ...ids, mode: root.mode })
    return ids
  })
}

/** False if the daemon cannot read the volume; the engine is then asked. */
async function hasFiles({ engine, owner }: EngineScope, name: string): Promise<boolean> {
  const directory = (await findVolume(engine, owner, name))?.directory
  const names = directory === undefined ? [] : await readdir(directory).catch(() => [])
  return names.length > 0
}

function inReference<T>(scope: EngineScope, use: DiskUse, work: (container: Container) => Promise<T>) {
  const { image, volume, serviceId } = use
  return withReference(scope, { key: `disk-${serviceId}`, actorId: serviceId, image, volume }, work)
}

/** The folder itself and its first file. */
function firstEntries({ engine }: EngineScope, container: Container, path: string) {
  return readArchive(engine, { container, path }, async (next) => {
    const found: { uid: number; mode: number }[] = []
    for (let one = await next(); !one.done; one = await next()) {
      found.push({ uid: one.value.header.uid ?? 0, mode: one.value.header.mode ?? 0o755 })
      if (found.length === 2) break
      one.value.resume()
    }
    return found
  })
}

async function chownFolder(
  { engine }: EngineScope,
  container: Container,
  path: string,
  { uid, gid, mode }: UserIds & { mode: number },
): Promise<void> {
  const archive = pack()
  // Docker ignores an entry for the folder that it extracts into.
  archive.entry({ name: `${posix.basename(path)}/`, type: 'directory', uid, gid, mode })
  archive.finalize()
  const content = await buffer(archive)
  const put = (abortSignal: AbortSignal) =>
    container.putArchive(content, { path: posix.dirname(path), abortSignal })
  await engine.call(`set the owner of ${path}`, put)
}
