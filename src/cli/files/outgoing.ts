// A file or folder of this machine as a tar stream. Links inside a folder are copied as links.
import { lstat, readdir, readlink, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { PassThrough, pipeline, type Readable } from 'node:stream'
import { CliFailure, usageFailure } from '../failure.ts'
import { packEntries } from '../source/pack.ts'
import type { SourceEntry } from '../source/source-entries.ts'

export interface LocalSource {
  /** Absolute. */
  path: string
  isFolder: boolean
  /** Whether only what is in the folder is copied, as for `photos/.`. */
  isContent: boolean
}

export async function findSource(cwd: string, given: string): Promise<LocalSource> {
  const path = resolve(cwd, given)
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw usageFailure(
      `cannot read ${given}: ${error.code === 'ENOENT' ? 'it does not exist' : error.message}`,
    )
  })
  if (!found.isFile() && !found.isDirectory()) throw usageFailure(`${given} is neither a file nor a folder`)
  const isContent = found.isDirectory() && /(^|\/)\.\.?\/*$/.test(given)
  return { path, isFolder: found.isDirectory(), isContent }
}

interface Packing {
  /** Instead of the name of the source; empty for the content of a folder. */
  name: string
  owner: { uid: number; gid: number }
  signal: AbortSignal
  onPacked(sizeBytes: number): void
  /** Sockets, pipes and devices. */
  onSkipped(path: string): void
}

/** Destroyed with a CliFailure if something cannot be read. */
export async function packLocal({ path }: LocalSource, packing: Packing): Promise<Readable> {
  const { pack } = await import('tar-stream')
  const { name, owner, signal, onPacked, onSkipped } = packing
  const archive = pack()
  const folder = dirname(path)
  const top = basename(path)
  const change = (entry: SourceEntry) => ({
    ...owner,
    name: (name + entry.path.slice(top.length)).replace(/^\//, '') || '.',
    mtime: new Date(),
  })
  const entries = walk({ folder, onSkipped }, top, stat)
  packEntries(archive, { folder, entries }, { signal, onPacked, change }).catch((error: Error) =>
    archive.destroy(error),
  )
  // Its errors are those of the body.
  return pipeline(archive, new PassThrough(), () => undefined)
}

interface Walk {
  folder: string
  onSkipped(path: string): void
}

/** Only the top is followed if it is a link. */
async function* walk({ folder, onSkipped }: Walk, path: string, look = lstat): AsyncGenerator<SourceEntry> {
  // Node reads what is not UTF-8 as this character.
  if (path.includes('\uFFFD')) throw new CliFailure(`${path} has a name that is not UTF-8`)
  const absolutePath = join(folder, path)
  const found = await look(absolutePath).catch(unreadable)
  const entry = { path, mode: found.mode & 0o777, sizeBytes: 0, target: '' }
  if (found.isSymbolicLink()) yield { ...entry, kind: 'link', target: await readlink(absolutePath) }
  else if (found.isFile()) yield { ...entry, kind: 'file', sizeBytes: found.size }
  else if (!found.isDirectory()) onSkipped(path)
  else {
    yield { ...entry, kind: 'folder' }
    for (const name of (await readdir(absolutePath).catch(unreadable)).sort())
      yield* walk({ folder, onSkipped }, join(path, name))
  }
}

function unreadable({ path, code }: NodeJS.ErrnoException): never {
  throw new CliFailure(`${path} cannot be read (${code})`)
}
