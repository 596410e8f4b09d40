// A disk as a file: a tar archive in gzip with one folder. What is read may be hostile.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { ByteReader } from './byte-reader.ts'
import { type Entry, invalid, readEntries } from './entries.ts'
import { partsOf, refused } from './entry-path.ts'
import { archiveFailure } from './unpack.ts'

export interface DiskContent {
  entries: number
  /** Of all files. A file with several names counts once. */
  bytes: number
}

/** Small, because the engine does not read what follows the end of an archive. */
const metadataBytes = 64 * 1024
const types = { file: ['0', '7'], hardLink: '1', link: '2', folder: '5', pipe: '6' }

/** Speed counts more than size: the data may change while it is read. */
export function zipped(archive: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  return through(archive, createGzip({ level: 1 }))
}

export function unzipped(file: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  return through(file, createGunzip())
}

async function* through(source: AsyncIterable<Uint8Array>, step: ReturnType<typeof createGzip>) {
  // The reader of `step` gets the error.
  pipeline(Readable.from(source, { objectMode: false }), step).catch(() => undefined)
  yield* step as AsyncIterable<Buffer>
}

/**
 * Reads all of an unpacked archive. Throws `archive_invalid` if it is cut off, or contains what no disk has:
 * a device, or a path that leads out of its folder.
 */
export async function examineDisk(
  archive: AsyncIterable<Buffer>,
  folder: string,
  signal: AbortSignal,
): Promise<DiskContent> {
  const reader = new ByteReader(archive)
  const content: DiskContent = { entries: 0, bytes: 0 }
  const links = new Set<string>()
  let current: string | null = null
  try {
    for await (const entry of readEntries(reader, metadataBytes)) {
      signal.throwIfAborted()
      current = entry.name
      checkEntry(entry, folder, links)
      content.entries++
      content.bytes += entry.sizeBytes
      for await (const _ of entry.content) signal.throwIfAborted()
    }
  } catch (error) {
    signal.throwIfAborted()
    throw archiveFailure(error, current)
  } finally {
    await reader.close()
  }
  if (content.entries === 0) throw invalid(`has no folder '${folder}'`)
  return content
}

/** `links` has the paths of the symbolic links so far: no entry may be below one. */
function checkEntry({ type, name, linkName, sizeBytes }: Entry, folder: string, links: Set<string>): void {
  const parts = partsOf(name)
  if (parts[0] !== folder) throw refused(name, `is not in the folder '${folder}'`)
  if (parts.length === 1 && type !== types.folder) throw refused(name, 'is not a folder')
  for (let depth = 1; depth < parts.length; depth++)
    if (links.has(parts.slice(0, depth).join('/'))) throw refused(name, 'is below a link')
  if (types.file.includes(type)) return
  if (sizeBytes > 0) throw refused(name, 'has content, and is not a file')
  if (type === types.hardLink && partsOf(linkName)[0] !== folder)
    throw refused(name, 'is a hard link that leads out of the folder')
  else if (type === types.link) links.add(parts.join('/'))
  else if (![types.hardLink, types.folder, types.pipe].includes(type))
    throw refused(name, 'is neither a file, a folder, a link nor a pipe')
}
