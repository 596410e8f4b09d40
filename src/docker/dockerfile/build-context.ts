// What a build gets to see: its directory without what .dockerignore names, and the Dockerfile. Nothing is
// read through a link that leaves the source: a tracked link to /etc/passwd must not bring the host's.

import { constants, type Stats } from 'node:fs'
import { lstat, open, readdir, readlink, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Header, type Pack, pack } from 'tar-stream'
import { Failure, messageOf } from '../../errors.ts'
import { type IgnoreRules, ignoreRules, readBounded, readIgnoreFile } from './ignore-rules.ts'

export interface ContextRequest {
  contextDir: string
  /** Relative to `contextDir`; it may lie outside of that, not outside of `sourceDir`. */
  dockerfile: string
  /** Nothing outside of this directory is read; the context itself by default. */
  sourceDir?: string | undefined
  /** Lines as of a .dockerignore, instead of those of the source. */
  ignore?: string[] | undefined
  signal: AbortSignal
}

export interface BuildContext {
  /** A tar archive. */
  stream: Readable
  /** The path of the Dockerfile inside the archive. */
  dockerfile: string
  dockerfileText: string
  /** Resolves when the last entry is in the stream; rejects when something cannot be read, and on abort. */
  packed: Promise<void>
}

/** A Dockerfile that is not a plain file of the context is added as a copy with this name. */
const copiedDockerfile = '.berth.Dockerfile'
/** The largest Dockerfile that was found, MegaLinter's generated one, has 60 KiB. */
export const maxDockerfileBytes = 512 * 1024

/** Throws `build_failed`: no Dockerfile, a path outside the source, or a .dockerignore above its limits. */
export async function openBuildContext(request: ContextRequest): Promise<BuildContext> {
  const source = await realpath(request.sourceDir ?? request.contextDir)
  const root = await locate(source, request.contextDir, 'root directory')
  const file = await locateDockerfile(source, root, request.dockerfile)
  const isPlain = isInside(root, file) && file === join(root, request.dockerfile)
  const dockerfile = isPlain ? toArchivePath(root, file) : copiedDockerfile
  const rules = request.ignore ? ignoreRules(request.ignore) : await readRules(root, request.dockerfile)
  const bytes = await readBounded(file, { name: 'the Dockerfile', maxBytes: maxDockerfileBytes })
  const tree = openTree(root, dockerfile, rules, request.signal)
  const archive = pack().on('error', () => {})
  const packAll = async () => {
    if (!isPlain) await packFile(archive, file, dockerfile, request.signal)
    await packTree(archive, tree, request.signal)
  }
  const packed = packAll().catch((error: unknown) => {
    archive.destroy()
    request.signal.throwIfAborted()
    throw new Failure('build_failed', `the source cannot be read: ${messageOf(error)}`)
  })
  return { stream: toStream(archive, packed), dockerfile, dockerfileText: bytes.toString('latin1'), packed }
}

async function locateDockerfile(source: string, root: string, dockerfile: string): Promise<string> {
  const file = await locate(source, join(root, dockerfile), `file '${dockerfile}'`)
  if ((await stat(file)).isFile()) return file
  throw new Failure('build_failed', `'${dockerfile}' is not a file`)
}

/** Resolves a path, which must lie inside the source. */
async function locate(source: string, path: string, name: string): Promise<string> {
  const realPath = await realpath(path).catch(() => null)
  if (realPath === null) throw new Failure('build_failed', `the source has no ${name}`)
  if (isInside(source, realPath)) return realPath
  throw new Failure('build_failed', `its ${name} points out of the source`)
}

/** The Dockerfile is always included, as elsewhere: builders read it even if .dockerignore excludes it. */
function openTree(root: string, dockerfile: string, rules: IgnoreRules, signal: AbortSignal): Tree {
  return {
    root,
    keeps: async (path) => path === dockerfile || !(await rules.ignores(path, signal)),
    mayKeepBelow: (path) => rules.hasExceptions || dockerfile.startsWith(`${path}/`),
  }
}

/** A Dockerfile's own ignore file wins over the common one. */
async function readRules(root: string, dockerfile: string): Promise<IgnoreRules> {
  const dockerfileIgnore = await readIgnoreFile(root, `${dockerfile}.dockerignore`)
  const file = dockerfileIgnore ?? (await readIgnoreFile(root, '.dockerignore'))
  return file?.rules ?? ignoreRules([])
}

function isInside(directory: string, realPath: string): boolean {
  return realPath === directory || realPath.startsWith(directory + sep)
}

function toArchivePath(root: string, file: string): string {
  return relative(root, file).split(sep).join('/')
}

// Fails with the error of `packed`, not with the error of the destroyed archive. An error event without a
// listener would end the process.
function toStream(archive: Pack, packed: Promise<void>): Readable {
  async function* bytes() {
    try {
      yield* archive
    } finally {
      await packed
    }
  }
  return Readable.from(bytes(), { objectMode: false }).on('error', () => {})
}

// The archive has the same order each time, and belongs to root. Sockets, pipes and devices are left out.

type EntryHeader = Partial<Header> & Pick<Header, 'name'>

interface Tree {
  root: string
  keeps(path: string): Promise<boolean>
  /** Whether an excluded directory may contain included files. */
  mayKeepBelow(path: string): boolean
}

/** Packs what the tree keeps and closes the archive. */
async function packTree(archive: Pack, tree: Tree, signal: AbortSignal): Promise<void> {
  for await (const path of walk(tree, '', signal)) {
    await packEntry(archive, join(tree.root, path), path, signal)
  }
  archive.finalize()
}

async function packFile(archive: Pack, file: string, path: string, signal: AbortSignal): Promise<void> {
  // Links are not followed: the path may have become a link since it was checked.
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const stats = await handle.stat()
    const header = { ...headersOf(stats, path), type: 'file' as const, size: stats.size }
    if (stats.size === 0) return await packEmpty(archive, header)
    // A file that grows during packing is truncated, because the archive already contains its size.
    const content = handle.createReadStream({ end: stats.size - 1, autoClose: false })
    await pipeline(content, archive.entry(header), { signal })
  } finally {
    await handle.close()
  }
}

async function* walk(tree: Tree, directory: string, signal: AbortSignal): AsyncGenerator<string> {
  const entries = await readdir(join(tree.root, directory), { withFileTypes: true })
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    signal.throwIfAborted()
    const path = directory === '' ? entry.name : `${directory}/${entry.name}`
    const isRetained = await tree.keeps(path)
    if (isRetained) yield path
    if (entry.isDirectory() && (isRetained || tree.mayKeepBelow(path))) yield* walk(tree, path, signal)
  }
}

async function packEntry(archive: Pack, file: string, path: string, signal: AbortSignal): Promise<void> {
  const stats = await lstat(file)
  const headers = headersOf(stats, path)
  if (stats.isFile()) await packFile(archive, file, path, signal)
  else if (stats.isDirectory()) await packEmpty(archive, { ...headers, type: 'directory' })
  else if (stats.isSymbolicLink()) {
    await packEmpty(archive, { ...headers, type: 'symlink', linkname: await readlink(file) })
  }
}

// Destroying an archive emits an error event on each of its open entries.
function packEmpty(archive: Pack, header: EntryHeader): Promise<void> {
  return new Promise((resolve, reject) => {
    archive.entry(header, '', (error) => (error ? reject(error) : resolve())).on('error', reject)
  })
}

function headersOf(stats: Stats, path: string): EntryHeader {
  return { name: path, mode: stats.mode & 0o777, mtime: stats.mtime, uid: 0, gid: 0 }
}
