// The owner of a disk. Docker creates volumes for root, and an image of another user could not write to them.
import { readdir } from 'node:fs/promises'
import { posix } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Container } from 'dockerode'
import { pack } from 'tar-stream'
import { Failure } from '../../errors.ts'
import { orNull } from '../engine/client.ts'
import { readArchive } from './archive-entries.ts'
import type { EngineScope } from './find-container.ts'
import { withReference } from './reference-container.ts'
import { findVolume } from './volumes.ts'

export interface UserIds {
  uid: number
  gid: number
}

interface DiskUse {
  image: string
  /** The user that the image names, as in `USER`. */
  user: string
  volume: { name: string; mountPath: string }
  serviceId: string
}

/** A file of that size has all users of an image. */
const maxFileBytes = 1024 * 1024

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

function isRoot(user: string): boolean {
  return /^(0|root)?(:.*)?$/.test(user)
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

/** `node`, `1000` or `1000:staff` as numbers, by the files of the image. Null for an unknown name. */
async function resolveUser(scope: EngineScope, container: Container, user: string): Promise<UserIds | null> {
  const [name = '', group] = user.split(':')
  const users = await readRows(scope, container, '/etc/passwd')
  const row = users.find((fields) => fields[0] === name || fields[2] === name)
  const uid = toId(name) ?? toId(row?.[2])
  if (uid === null) return null
  if (group === undefined) return { uid, gid: toId(row?.[3]) ?? 0 }
  const groups = await readRows(scope, container, '/etc/group')
  const gid = toId(group) ?? toId(groups.find((fields) => fields[0] === group)?.[2])
  return gid === null ? null : { uid, gid }
}

function toId(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : null
}

/** The fields of each line; none if the file does not exist. */
async function readRows({ engine }: EngineScope, container: Container, path: string): Promise<string[][]> {
  const read = readArchive(engine, { container, path }, async (next) => {
    const first = await next()
    return first.done ? '' : readText(first.value, path)
  })
  const text = (await orNull(read)) ?? ''
  return text.split('\n').map((line) => line.split(':'))
}

async function readText(entry: AsyncIterable<unknown>, path: string): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of entry) {
    bytes += (chunk as Buffer).length
    if (bytes > maxFileBytes)
      throw new Failure('instance_failed', `${path} of the image is larger than 1 MiB`)
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
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
