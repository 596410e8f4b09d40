// What a build gets to see: its directory without what .dockerignore names, and the Dockerfile. Nothing is
// read through a link that leaves the source: a tracked link to /etc/passwd must not bring the host's.
import { readFile, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { Readable } from 'node:stream'
import dockerignore from '@balena/dockerignore'
import { type Pack, pack } from 'tar-stream'
import { Failure, messageOf } from '../errors.ts'
import { packFile, packTree, type Tree } from './context-archive.ts'

export interface ContextRequest {
  contextDir: string
  /** Relative to `contextDir`; it may lie outside of that, not outside of `sourceDir`. */
  dockerfile: string
  /** What nothing is read from outside of; the context itself by default. */
  sourceDir?: string | undefined
  signal: AbortSignal
}

export interface BuildContext {
  /** A tar archive. */
  stream: Readable
  /** The path of the Dockerfile inside the archive. */
  dockerfile: string
  /** Resolves when the last entry is in the stream; rejects when something cannot be read, and on abort. */
  packed: Promise<void>
}

/** A Dockerfile that is no plain file of the context goes in as a copy of this name. */
const copiedDockerfile = '.berth.Dockerfile'

/** In a pattern these stand for themselves; unescaped they would reach the regular expression made of it. */
const meantLiterally = /[+(){}|]/g

/** Throws `build_failed` when there is no Dockerfile, or it or the context lies outside of the source. */
export async function openBuildContext(request: ContextRequest): Promise<BuildContext> {
  const source = await realpath(request.sourceDir ?? request.contextDir)
  const root = await locate(source, request.contextDir, 'root directory')
  const file = await locateDockerfile(source, root, request.dockerfile)
  const isPlain = isInside(root, file) && file === join(root, request.dockerfile)
  const dockerfile = isPlain ? toArchivePath(root, file) : copiedDockerfile
  const tree = await openTree(root, dockerfile, request.dockerfile)
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
  return { stream: toStream(archive, packed), dockerfile, packed }
}

async function locateDockerfile(source: string, root: string, dockerfile: string): Promise<string> {
  const file = await locate(source, join(root, dockerfile), `file '${dockerfile}'`)
  if ((await stat(file)).isFile()) return file
  throw new Failure('build_failed', `'${dockerfile}' is not a file`)
}

/** The place that a path leads to, which must lie inside of the source. */
async function locate(source: string, path: string, name: string): Promise<string> {
  const place = await realpath(path).catch(() => null)
  if (place === null) throw new Failure('build_failed', `the source has no ${name}`)
  if (isInside(source, place)) return place
  throw new Failure('build_failed', `its ${name} leads out of the source`)
}

/** The Dockerfile is always kept, as other builders do: it is read even if the image shall not hold it. */
async function openTree(root: string, keptFile: string, dockerfile: string): Promise<Tree> {
  const patterns = await readPatterns(root, dockerfile)
  const rules = dockerignore.default({ ignorecase: false }).add(patterns)
  const hasExceptions = patterns.some((pattern) => pattern.startsWith('!'))
  return {
    root,
    keeps: (path) => path === keptFile || !rules.ignores(path),
    mayKeepBelow: (path) => hasExceptions || keptFile.startsWith(`${path}/`),
  }
}

/** A Dockerfile's own ignore file wins over the common one. */
async function readPatterns(root: string, dockerfile: string): Promise<string[]> {
  const own = await readInside(root, join(root, `${dockerfile}.dockerignore`))
  const text = own ?? (await readInside(root, join(root, '.dockerignore'))) ?? ''
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const patterns = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  return patterns.map((pattern) => pattern.replace(meantLiterally, '\\$&'))
}

async function readInside(root: string, path: string): Promise<string | null> {
  const place = await realpath(path).catch(() => null)
  if (place === null || !isInside(root, place)) return null
  return readFile(place, 'utf8')
}

function isInside(directory: string, place: string): boolean {
  return place === directory || place.startsWith(directory + sep)
}

function toArchivePath(root: string, file: string): string {
  return relative(root, file).split(sep).join('/')
}

// Fails with what `packed` tells, not with what the broken archive makes of it. An error event that nobody
// listens to any more would end the process.
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
