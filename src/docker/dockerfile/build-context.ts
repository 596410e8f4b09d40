// What a build gets to see: its directory without what .dockerignore names, and the Dockerfile. Nothing is
// read through a link that leaves the source: a tracked link to /etc/passwd must not bring the host's.
import { realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { Readable } from 'node:stream'
import { type Pack, pack } from 'tar-stream'
import { Failure, messageOf } from '../../errors.ts'
import { packFile, packTree, type Tree } from './context-archive.ts'
import { readBounded, readIgnoreFile } from './ignore-file.ts'
import { type IgnoreRules, ignoreRules } from './ignore-rules.ts'

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
  /** The text of the Dockerfile. Each character is a byte. */
  dockerfileText: string
  /** Resolves when the last entry is in the stream; rejects when something cannot be read, and on abort. */
  packed: Promise<void>
}

/** A Dockerfile that is not a plain file of the context is added as a copy with this name. */
const copiedDockerfile = '.berth.Dockerfile'
/** The largest Dockerfile that was found, MegaLinter's generated one, has 60 KiB. */
export const maxDockerfileBytes = 512 * 1024

/**
 * Throws `build_failed` if there is no Dockerfile, if the Dockerfile or the context lies outside the source,
 * or if .dockerignore exceeds its limits.
 */
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
