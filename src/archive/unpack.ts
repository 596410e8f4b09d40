// Unpacks an uploaded .tar.gz. Each entry is checked before it is written, because archives are untrusted.
import { createReadStream } from 'node:fs'
import { mkdir, opendir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { codeOf, Failure, messageOf } from '../errors.ts'
import { ByteReader } from './byte-reader.ts'
import { type Entry, invalid, readEntries } from './entries.ts'
import { climbsToTop, leadsOut, partsOf, quote, refused } from './entry-path.ts'
import { removeTree } from './removal.ts'
import { Tree } from './tree.ts'

export interface UnpackLimits {
  entries: number
  /** The total size of all files, according to their headers. */
  unpackedBytes: number
  /** The limit for extended headers between two entries, and for data after the end. */
  metadataBytes: number
}

export interface UnpackRequest {
  /** The path of the .tar.gz. */
  file: string
  /** Replaced if it exists. A single folder at the top of the archive becomes this directory. */
  directory: string
  /** Whether the single top folder of the unpacked `tree` stays; by default it does not. */
  keepsFolder?: (tree: string, folder: string) => boolean
  signal: AbortSignal
  /** The space that unpacking may use; unlimited by default. */
  roomBytes?: number
  limits?: UnpackLimits
}

const gibibyte = 1024 ** 3
const defaultLimits = { entries: 200_000, unpackedBytes: 4 * gibibyte, metadataBytes: 16 * 1024 * 1024 }
/** Headers, padding and metadata of a whole archive, in addition to its content. */
const overheadBytes = gibibyte
const chunkBytes = 256 * 1024

export interface Unpacked {
  entries: number
  bytes: number
  /** The single top folder whose content was used, escaped for a log line. */
  leftOut: string | null
}

/** Throws `archive_invalid` with the entry, if any, or `insufficient_storage`, and leaves no directory. */
export async function unpackArchive(request: UnpackRequest): Promise<Unpacked> {
  const { file, directory, signal } = request
  const draft = `${directory}.part`
  for (const path of [directory, draft]) await removeTree(path)
  await mkdir(draft, { recursive: true, mode: 0o700 })
  const unpacking = new Unpacking(new Tree(draft), request)
  const reader = new ByteReader(inflate(file, signal))
  try {
    const { metadataBytes } = request.limits ?? defaultLimits
    for await (const entry of readEntries(reader, metadataBytes)) {
      signal.throwIfAborted()
      await unpacking.addEntry(entry, reader.takenBytes)
    }
    return await unpacking.finish(draft, request)
  } catch (error) {
    signal.throwIfAborted()
    throw archiveFailure(error, unpacking.current)
  } finally {
    await reader.close()
    await removeTree(draft)
  }
}

async function* inflate(file: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const unzipped = createGunzip({ chunkSize: chunkBytes })
  // Errors are thrown to the reader of `unzipped`.
  pipeline(createReadStream(file, { highWaterMark: chunkBytes }), unzipped, { signal }).catch(() => {})
  yield* unzipped
}

class Unpacking {
  current: string | null = null
  #entries = 0
  #bytes = 0
  /** The first link that points inside the archive, but out of its single top folder. */
  #outward: { name: string; target: string } | null = null
  readonly #tree: Tree
  readonly #limits: UnpackLimits
  readonly #roomBytes: number

  constructor(tree: Tree, { limits = defaultLimits, roomBytes = Number.POSITIVE_INFINITY }: UnpackRequest) {
    this.#tree = tree
    this.#limits = limits
    this.#roomBytes = roomBytes
  }

  async addEntry(entry: Entry, takenBytes: number): Promise<void> {
    this.current = entry.name
    const parts = partsOf(entry.name)
    this.#count(entry, takenBytes)
    if (entry.type === '0' || entry.type === '7') {
      if (parts.length === 0) throw refused(entry.name, 'is not a valid file name')
      await this.#tree.addFile(parts, entry.mode, entry.content)
      return
    }
    if (entry.sizeBytes > 0) throw refused(entry.name, `is ${kindOf(entry.type)} with content`)
    if (entry.type === '5') await this.#tree.addFolder(parts, entry.mode)
    else await this.#addLink(entry, parts)
  }

  /** If the tree has a single folder at its top, that folder becomes the tree, unless it must be kept. */
  async finish(draft: string, { directory, keepsFolder }: UnpackRequest): Promise<Unpacked> {
    if (this.#entries === 0) throw invalid('is empty')
    const single = await singleFolder(draft)
    const folder = single !== null && keepsFolder?.(draft, single) ? null : single
    if (folder !== null && this.#outward) throw leadsOut(this.#outward.name, this.#outward.target)
    await rename(folder === null ? draft : join(draft, folder), directory)
    return { entries: this.#entries, bytes: this.#bytes, leftOut: folder === null ? null : quote(folder) }
  }

  #count({ name, sizeBytes }: Entry, takenBytes: number): void {
    const { entries, unpackedBytes } = this.#limits
    this.#entries += 1
    this.#bytes += sizeBytes
    if (this.#entries > entries) throw invalid(`has more than ${entries} entries`)
    if (this.#bytes > unpackedBytes || takenBytes > unpackedBytes + overheadBytes) {
      throw refused(name, `makes the archive exceed ${unpackedBytes} bytes when unpacked`)
    }
    if (this.#bytes > this.#roomBytes) throw noRoom()
  }

  async #addLink({ type, name, linkName }: Entry, parts: string[]): Promise<void> {
    if (parts.length === 0 || (type !== '1' && type !== '2')) throw refused(name, `is ${kindOf(type)}`)
    if (type === '1') return this.#tree.addHardLink(parts, partsOf(linkName))
    if (climbsToTop(parts, linkName)) this.#outward ??= { name, target: linkName }
    await this.#tree.addSymlink(parts, linkName)
  }
}

const kinds: Record<string, string> = {
  1: 'a hard link',
  2: 'a link',
  3: 'a character device',
  4: 'a block device',
  5: 'a folder',
  6: 'a pipe',
  S: 'a sparse file',
}

function kindOf(type: string): string {
  return kinds[type] ?? `of a type that is not known (${quote(type)})`
}

/** The name of the only entry at the top, if it is a folder. */
async function singleFolder(path: string): Promise<string | null> {
  const directory = await opendir(path)
  try {
    const [first, second] = [await directory.read(), await directory.read()]
    return first?.isDirectory() && !second ? first.name : null
  } finally {
    await directory.close()
  }
}

function noRoom(): Failure {
  return new Failure('insufficient_storage', 'there is not enough room on the disk to unpack the archive')
}

/** Converts errors of the archive and of the disk to failures; other errors pass unchanged. */
export function archiveFailure(error: unknown, current: string | null): unknown {
  const code = codeOf(error)
  const inEntry = current === null ? '' : ` in ${quote(current)}`
  if (code === 'Z_BUF_ERROR') return invalid(`is cut off${inEntry}`)
  if (code.startsWith('Z_')) return invalid(isNoGzip(error, current) ? 'is not gzip' : `is damaged${inEntry}`)
  if (code === 'ENOSPC' || code === 'EDQUOT') return noRoom()
  if (['EMLINK', 'ENAMETOOLONG', 'EILSEQ'].includes(code))
    return refused(current!, `could not be created (${code})`)
  return error
}

function isNoGzip(error: unknown, current: string | null): boolean {
  return current === null && messageOf(error).includes('header')
}
