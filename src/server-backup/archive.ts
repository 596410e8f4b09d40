// The plain content of a backup: a tar archive in gzip. A comment at the end of the gzip stream makes its
// length a multiple of the chunk that is encrypted, so that a cut is recognized by the length alone.
import { createWriteStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { extract, type Header, type Pack, pack } from 'tar-stream'
import { filesBelow, serverFiles, serverFolders } from '../../storage/server-copy.ts'
import { partsOf } from '../archive/entry-path.ts'
import { codeOf, Failure, messageOf } from '../errors.ts'
import { chunkBytes } from './age-file.ts'
import { type Manifest, manifestName, notOfBerth, parseManifest } from './manifest.ts'

const mebibyte = 1024 * 1024
/** Read as a whole: a segment of a log may be cut back while it is read. */
const smallFileBytes = 4 * mebibyte
const maxManifestBytes = mebibyte
const allowedTops = new Set(['store', ...serverFiles, ...serverFolders])

/** The archive of a folder, with the manifest first. */
export async function* packFolder(folder: string, manifest: Manifest): AsyncGenerator<Uint8Array> {
  const archive = pack()
  // Speed counts more than size here: dumps, archives and most of the logs are compressed or small.
  const gzip = createGzip({ level: 1, chunkSize: chunkBytes })
  const filled = fill(archive, folder, manifest).catch((error: unknown) => archive.destroy(error as Error))
  const piped = pipeline(archive, gzip)
  // The reader of `gzip` gets the error.
  piped.catch(() => undefined)
  let sizeBytes = 0
  try {
    for await (const piece of gzip as AsyncIterable<Buffer>) {
      sizeBytes += piece.length
      yield piece
    }
    await Promise.all([filled, piped])
    yield paddingAfter(sizeBytes)
  } finally {
    archive.destroy()
    gzip.destroy()
  }
}

async function fill(archive: Pack, folder: string, manifest: Manifest): Promise<void> {
  await packBytes(archive, manifestName, Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`))
  for (const { path } of await filesBelow(folder)) await packFile(archive, path, relative(folder, path))
  archive.finalize()
}

async function packFile(archive: Pack, path: string, name: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    const { size, mtime } = await file.stat()
    if (size <= smallFileBytes) return await packBytes(archive, name, await file.readFile(), mtime)
    // A file that grows is cut at this length, because the archive already contains it.
    const content = file.createReadStream({ end: size - 1, autoClose: false })
    await pipeline(content, archive.entry({ ...headerOf(name, mtime), size }))
  } catch (error) {
    throw new Failure('backup_failed', `${name} cannot be read: ${messageOf(error)}`)
  } finally {
    await file.close()
  }
}

// Destroying an archive emits an error event on each of its open entries.
function packBytes(archive: Pack, name: string, bytes: Buffer, mtime = new Date()): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error?: Error | null) => (error ? reject(error) : resolve())
    archive.entry(headerOf(name, mtime), bytes, done).on('error', reject)
  })
}

const headerOf = (name: string, mtime: Date) => ({ name, mtime, mode: 0o600, type: 'file' as const })

/** A member of gzip without content; its comment has the missing length. */
function paddingAfter(sizeBytes: number): Buffer {
  const head = Buffer.from('1f8b0810000000000003', 'hex')
  const end = Buffer.from('0003000000000000000000', 'hex')
  const leastBytes = head.length + end.length
  const fillBytes = (chunkBytes - ((sizeBytes + leastBytes) % chunkBytes)) % chunkBytes
  return Buffer.concat([head, Buffer.alloc(fillBytes, ' '), end])
}

/**
 * Writes what a backup contains into an empty folder. Throws `backup_invalid`, `insufficient_storage` for
 * more than `maxBytes`, and what the source throws.
 */
export async function unpackFolder(
  source: AsyncIterable<Uint8Array>,
  folder: string,
  maxBytes: number,
): Promise<Manifest> {
  const gunzip = createGunzip()
  const entries = extract()
  // Without a listener from the start, the first entry would be lost.
  const reading = entries[Symbol.asyncIterator]()
  const piped = pipeline(source, gunzip, entries)
  piped.catch(() => undefined)
  let manifest: Manifest | null = null
  let files = 0
  let leftBytes = maxBytes
  try {
    for (;;) {
      const { value: entry, done } = await reading.next()
      if (done) break
      leftBytes -= entry.header.size ?? 0
      if (leftBytes < 0) throw noRoom(folder)
      if (manifest === null) manifest = await readManifest(entry)
      else {
        await writeFile(entry, join(folder, ...allowedPath(entry.header)))
        files++
      }
    }
    await piped
  } catch (error) {
    if (error instanceof Failure) throw error
    // The first error is the cause; the streams after it only report that they were closed.
    const cause = await piped.then(
      () => error,
      (reason: unknown) => reason,
    )
    throw /^Z_|ERR_STREAM/.test(codeOf(cause)) || /tar header/.test(messageOf(cause)) ? notOfBerth() : cause
  } finally {
    entries.destroy()
  }
  if (manifest === null) throw notOfBerth()
  const wanted = manifest.parts.reduce((sum, part) => sum + part.files, 0)
  if (files === wanted) return manifest
  throw new Failure('backup_invalid', `the backup has ${files} files instead of ${wanted}`)
}

/** What is compressed may be a thousand times as large. */
function noRoom(folder: string): Failure {
  const message = `there is too little space for the backup where ${folder} is`
  return new Failure('insufficient_storage', message, 'choose another --data-dir, or a lower --min-free-disk')
}

type Entry = AsyncIterable<unknown> & { header: Header }

async function readManifest(entry: Entry): Promise<Manifest> {
  const { name, size = 0 } = entry.header
  if (name !== manifestName || size > maxManifestBytes) throw notOfBerth()
  const pieces: Buffer[] = []
  for await (const piece of entry as AsyncIterable<Buffer>) pieces.push(piece)
  return parseManifest(Buffer.concat(pieces).toString('utf8'))
}

/** Anyone with the recipient can make a backup: no entry may lead out of the folder. */
function allowedPath({ name, type }: Header): string[] {
  const parts = partsOf(name)
  if (type === 'file' && allowedTops.has(parts[0] ?? '')) return parts
  throw new Failure('backup_invalid', 'the backup contains something that no server writes')
}

async function writeFile(entry: Entry, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await pipeline(entry as AsyncIterable<Buffer>, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
}
