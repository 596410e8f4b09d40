// Files of a container as tar archives, in and out. The engine resolves paths within the container's own
// root: a link there cannot lead to files of the host.
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Container } from 'dockerode'
import { conflict, Failure, invalidRequest, messageOf } from '../../errors.ts'
import { type Engine, hasStatus } from '../engine/client.ts'
import { readArchive } from './archive-entries.ts'

export interface PathFacts {
  /** Within the container, with the link at its end resolved. */
  path: string
  kind: 'file' | 'folder' | 'other'
  mode: number
  uid: number
  gid: number
}

export interface ContainerPath {
  container: Container
  path: string
  /** A folder that a link at the end of the path must not leave. */
  within?: string
}

/** For the whole of a transfer. Its speed is the client's, so this is only a last resort. */
const transferMs = 24 * 60 * 60 * 1000

/** Throws `path_not_found`, also for a link that leads nowhere. */
export async function inspectPath(engine: Engine, place: ContainerPath): Promise<PathFacts> {
  const path = await resolvePath(engine, place)
  const {
    type,
    mode = 0,
    uid = 0,
    gid = 0,
  } = await readArchive(engine, { ...place, path }, async (next) => {
    const first = await next()
    if (first.done) throw missing(path)
    return first.value.header
  })
  const kind = type === 'directory' ? 'folder' : type === 'file' ? 'file' : 'other'
  return { path, kind, mode, uid, gid }
}

/** The archive of a file or folder. Closing it ends the transfer. Throws `path_not_found`. */
export async function openArchive(engine: Engine, place: ContainerPath): Promise<Readable> {
  const path = await resolvePath(engine, place)
  // For the root itself the engine names all entries by absolute paths.
  const opened = path === '/' ? '/.' : path
  const archive = await engine.call(`read ${path} of a container`, (abortSignal) =>
    place.container.getArchive({ path: opened, abortSignal }),
  )
  return archive as Readable
}

/** Extracts into a folder. Throws `path_not_found`, `conflict`, `invalid_request` for what is no archive. */
export async function extractArchive(
  engine: Engine,
  place: ContainerPath,
  { body, signal }: { body: Readable; signal: AbortSignal },
): Promise<void> {
  try {
    const { path, kind } = await inspectPath(engine, place)
    if (kind !== 'folder') throw conflict(`${place.path} is not a folder`)
    const put = (abortSignal: AbortSignal) =>
      place.container.putArchive(body, { path, noOverwriteDirNonDir: 'true', abortSignal })
    await engine.call(`write to ${path} of a container`, put, { timeoutMs: transferMs, signal })
  } catch (error) {
    throw explained(error, place.path)
  }
}

/** Where a link at the end of a path leads, within the container. */
async function resolvePath(engine: Engine, { container, path, within }: ContainerPath): Promise<string> {
  try {
    const found: IncomingMessage = await engine.call(`look at ${path} of a container`, (abortSignal) =>
      container.infoArchive({ path, abortSignal }),
    )
    found.resume()
    const stat = String(found.headers[statHeader])
    const { linkTarget = '' } = JSON.parse(Buffer.from(stat, 'base64').toString('utf8'))
    if (linkTarget === '') return path
    if (within === undefined || `${linkTarget}/`.startsWith(`${within}/`)) return linkTarget
    throw conflict(`it is a link that leads out of the disk, to ${linkTarget}`)
  } catch (error) {
    if (hasStatus(error, 404)) throw missing(within === undefined ? path : path.slice(within.length))
    throw error
  }
}

const statHeader = 'x-docker-container-path-stat'

function missing(path: string): Failure {
  return new Failure('path_not_found', `there is no ${path} there`)
}

/** The engine says what is wrong with an archive in words only. */
function explained(error: unknown, path: string): unknown {
  const message = messageOf(error)
  if (/marked read-only|read-only file ?system/i.test(message))
    return conflict(`${path} is on a read-only file system`, 'berth disks lists the disks of services')
  if (/no space left|quota exceeded/i.test(message))
    return new Failure('insufficient_storage', `the disk of Docker is full: ${message}`)
  if (/tar header|unexpected EOF|Error processing tar/i.test(message))
    return invalidRequest(`the archive cannot be extracted: ${message}`)
  return error
}
