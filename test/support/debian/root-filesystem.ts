// The files of an image, in memory: needs no scratch folder and no root rights, and follows no links. The
// same content gives the same bytes: order, owners and times do not depend on the machine or the date.
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { extract, type Header, pack } from 'tar-stream'

type Entry =
  | { type: 'file'; mode: number; content: Buffer }
  | { type: 'directory'; mode: number }
  | { type: 'symlink'; mode: number; target: string }

export interface RootFilesystem {
  file(path: string, content: Buffer | string, mode?: number): void
  directory(path: string, mode?: number): void
  symlink(path: string, target: string): void
  /** Unpacks a tar archive over the existing files, each at the path that `place` gives it. */
  unpack(tar: Buffer, place?: (path: string) => string): Promise<void>
  /** Removes a file. */
  remove(path: string): void
  has(path: string): boolean
  /** The paths of the files below a folder, in order. */
  paths(folder: string): string[]
  /** The content of a file; throws if it does not exist. */
  read(path: string): Buffer
  /** The whole tree as a tar archive. */
  toTar(): Promise<Buffer>
}

const leftOut = /^usr\/share\/(doc|man|locale|info|lintian|bash-completion)\//
const merged = /^(bin|sbin|lib|lib64)\//

/** A root with the usual folders; /bin, /sbin and /lib are links into /usr. */
export function createRootFilesystem(): RootFilesystem {
  const entries = new Map<string, Entry>()
  const put = (path: string, entry: Entry) => entries.set(placeOf(path), entry)
  const root: RootFilesystem = {
    file: (path, content, mode = 0o644) => put(path, { type: 'file', mode, content: Buffer.from(content) }),
    directory: (path, mode = 0o755) => put(path, { type: 'directory', mode }),
    symlink: (path, target) => put(path, { type: 'symlink', mode: 0o777, target }),
    unpack: (tar, place = (path) => path) => unpackInto(entries, tar, place),
    remove: (path) => void entries.delete(placeOf(path)),
    has: (path) => entries.has(placeOf(path)),
    paths: (folder) => filePaths(entries).filter((path) => path.startsWith(`${folder}/`)),
    read: (path) => contentOf(entries, placeOf(path)),
    toTar: () => toTar(entries),
  }
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    root.directory(`usr/${name}`)
    root.symlink(name, `usr/${name}`)
  }
  for (const path of ['dev', 'etc', 'home', 'proc', 'root', 'run', 'sys', 'var/lib']) root.directory(path)
  for (const path of ['tmp', 'var/tmp']) root.directory(path, 0o1777)
  return root
}

// './lib/x' and '/lib/x' are both stored as 'usr/lib/x'.
function placeOf(path: string): string {
  return path
    .replace(/^[./]+/, '')
    .replace(/\/$/, '')
    .replace(merged, 'usr/$1/')
}

async function unpackInto(
  entries: Map<string, Entry>,
  tar: Buffer,
  place: (path: string) => string,
): Promise<void> {
  for await (const part of Readable.from([tar]).pipe(extract())) {
    const content = await buffer(part)
    const path = placeOf(place(part.header.name))
    if (path === '' || leftOut.test(`${path}/`) || entries.get(path)?.type === 'symlink') continue
    entries.set(path, toEntry(entries, part.header, content))
  }
}

function toEntry(entries: Map<string, Entry>, header: Header, content: Buffer): Entry {
  const mode = (header.mode ?? 0o644) & 0o7777
  if (header.type === 'directory') return { type: 'directory', mode }
  if (header.type === 'symlink') return { type: 'symlink', mode: 0o777, target: header.linkname ?? '' }
  const original = header.type === 'link' ? entries.get(placeOf(header.linkname ?? '')) : undefined
  return original ?? { type: 'file', mode, content }
}

function filePaths(entries: Map<string, Entry>): string[] {
  const files = [...entries].filter(([, entry]) => entry.type === 'file')
  return files.map(([path]) => path).sort()
}

function contentOf(entries: Map<string, Entry>, path: string): Buffer {
  const entry = entries.get(path)
  if (entry?.type !== 'file') throw new Error(`there is no file ${path}`)
  return entry.content
}

function toTar(entries: Map<string, Entry>): Promise<Buffer> {
  const tar = pack()
  const mtime = new Date(0)
  for (const [name, entry] of withParents(entries)) {
    if (entry.type === 'file') tar.entry({ name, mode: entry.mode, mtime }, entry.content)
    else if (entry.type === 'directory') tar.entry({ name, mode: entry.mode, mtime, type: 'directory' })
    else tar.entry({ name, mode: entry.mode, mtime, type: 'symlink', linkname: entry.target })
  }
  tar.finalize()
  return buffer(tar)
}

function withParents(entries: Map<string, Entry>): [string, Entry][] {
  const all = new Map(entries)
  for (const path of entries.keys()) {
    const steps = path.split('/')
    for (let depth = 1; depth < steps.length; depth++) {
      const parent = steps.slice(0, depth).join('/')
      if (!all.has(parent)) all.set(parent, { type: 'directory', mode: 0o755 })
    }
  }
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1))
}
