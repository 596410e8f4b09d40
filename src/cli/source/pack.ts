// Packs a source as .tar.gz, always with the same bytes, into an unlinked file: none is left behind.
import { constants } from 'node:fs'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Header, Pack } from 'tar-stream'
import { CliFailure } from '../failure.ts'
import { archiveLimits, type Source, type SourceEntry, tooLarge } from './source-entries.ts'

export interface PackedSource {
  /** Open at its start; the caller closes it. */
  file: FileHandle
  sizeBytes: number
}

export interface PackOptions {
  signal: AbortSignal
  /** Called with the number of bytes packed since the last call. */
  onPacked(sizeBytes: number): void
}

/** Throws CliFailure for an unreadable or changing file, and above the server's limit. */
export async function packSource(source: Source, options: PackOptions): Promise<PackedSource> {
  const { signal } = options
  const { pack } = await import('tar-stream')
  const archive = pack()
  const file = await openUnlinked()
  const meter = createMeter()
  const filled = packEntries(archive, source, options).catch((error: unknown) => {
    archive.destroy(error as Error)
    throw error
  })
  try {
    const written = pipeline(archive, createGzip(), meter.stream, writer(file), { signal })
    await Promise.all([filled, written])
    return { file, sizeBytes: meter.sizeBytes() }
  } catch (error) {
    // An error in a file destroys the archive, and the pipeline rejects first with its own error. The failure
    // of `filled` names the file.
    const cause = await filled.then(
      () => error,
      (reason: unknown) => (reason instanceof CliFailure ? reason : error),
    )
    await file.close()
    signal.throwIfAborted()
    throw isFull(cause) ? diskFull() : cause
  }
}

function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')
}

function diskFull(): CliFailure {
  return new CliFailure(`${tmpdir()} is full: the packed source does not fit`, {
    hint: 'set TMPDIR to another folder',
  })
}

/** The file is unlinked before anything is written to it. */
async function openUnlinked(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-up-'))
  try {
    return await open(join(folder, 'source.tar.gz'), 'wx+', 0o600)
  } finally {
    await rm(folder, { recursive: true })
  }
}

function writer(file: FileHandle): Writable {
  return new Writable({
    write: (bytes, _, done) => void file.appendFile(bytes).then(() => done(), done),
  })
}

function createMeter() {
  let sizeBytes = 0
  const stream = new Transform({
    transform(bytes, _, done) {
      sizeBytes += bytes.length
      if (sizeBytes > archiveLimits.packedBytes) done(tooLarge('packed'))
      else done(null, bytes)
    },
  })
  return { stream, sizeBytes: () => sizeBytes }
}

interface PackedEntries {
  folder: string
  entries: Iterable<SourceEntry> | AsyncIterable<SourceEntry>
}

interface EntryOptions extends PackOptions {
  /** What differs from the header of a source. */
  change?: (entry: SourceEntry) => Partial<Header>
}

/** Ends the archive. Throws CliFailure for an unreadable or changing file. */
export async function packEntries(
  archive: Pack,
  { folder, entries }: PackedEntries,
  options: EntryOptions,
): Promise<void> {
  for await (const entry of entries) {
    options.signal.throwIfAborted()
    const header = { ...headerOf(entry), ...options.change?.(entry) }
    if (entry.kind === 'file') await packFile(archive, { folder, entry, header }, options)
    else await packEmpty(archive, header)
  }
  archive.finalize()
}

interface PackedFile {
  folder: string
  entry: SourceEntry
  header: EntryHeader
}

async function packFile(archive: Pack, { folder, entry, header: given }: PackedFile, options: PackOptions) {
  const { signal, onPacked } = options
  const file = await openWithoutFollowing(folder, entry.path)
  try {
    const { size } = await file.stat()
    const header = { ...given, size }
    if (size === 0) return await packEmpty(archive, header)
    // A file that grows during packing is truncated, because the archive already contains its size.
    const content = file.createReadStream({ end: size - 1, autoClose: false })
    content.on('data', (bytes) => onPacked(bytes.length))
    await pipeline(content, archive.entry(header), { signal })
  } catch (error) {
    throw isShort(error) ? changed(entry) : error
  } finally {
    await file.close()
  }
}

/** The file may have been replaced by a link or a pipe since it was listed. */
function openWithoutFollowing(folder: string, path: string): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  return open(join(folder, path), flags).catch((error: NodeJS.ErrnoException) => {
    throw new CliFailure(`${path} cannot be read (${error.code})`, {
      hint: 'exclude it in .berthignore, or change its permissions',
    })
  })
}

function isShort(error: unknown): boolean {
  return error instanceof Error && error.message === 'Size mismatch'
}

function changed({ path }: SourceEntry): CliFailure {
  return new CliFailure(`${path} changed while it was being packed`, { hint: 'try again' })
}

type EntryHeader = Partial<Header> & Pick<Header, 'name'>

// Destroying an archive emits an error event on each of its open entries.
function packEmpty(archive: Pack, header: EntryHeader): Promise<void> {
  return new Promise((resolve, reject) => {
    archive.entry(header, '', (error) => (error ? reject(error) : resolve())).on('error', reject)
  })
}

/** Owner and modification time are not packed. */
function headerOf({ path, kind, mode, target }: SourceEntry): EntryHeader {
  const type = { file: 'file', folder: 'directory', link: 'symlink' } as const
  const common = { name: path, mode, mtime: new Date(0), uid: 0, gid: 0, type: type[kind] }
  return kind === 'link' ? { ...common, linkname: target } : common
}
