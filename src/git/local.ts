// A repository on this host, given by its path. A path gives access only to what every user of the host can
// read, or to what is below a directory that the operator listed. As root, git opens the repository as
// another user, so that the kernel also enforces this for links, alternates and a path that changes between
// the check and its use.
import { constants, type Stats } from 'node:fs'
import { open, readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Failure } from '../errors.ts'

export interface LocalAccess {
  /** A URL instead of a path: given a path, git's client would itself open a bundle file. */
  url: string
  uploadPack: string
}

interface User {
  uid: number
  gid: number
}

/** User `nobody`, group `nogroup` on Debian. No other group, and no capability. */
const nobody: User = { uid: 65_534, gid: 65_534 }

/** The files of a repository that upload-pack reads. */
const readByGit = ['HEAD', 'config', 'commondir', 'packed-refs', 'shallow', 'refs', 'objects']

/** The size limit of a file that names directories. */
const linksBytes = 64 * 1024

/** Call right before git runs. Throws `repository_private` with the path, or `git_remote_unreachable`. */
export async function openLocal(path: string, localRepositories: string[]): Promise<LocalAccess> {
  const named = await findNamed(path, localRepositories)
  if (named !== null) return accessTo(named.path, named.owner)
  const seen = new Set<string>()
  await checkParents(path, path, seen)
  const real = await realpath(path).catch(() => missing(path))
  await checkRepository(path, real, seen)
  return accessTo(real, nobody)
}

/** Below a directory that the operator listed, git runs as the owner of the repository. */
async function findNamed(path: string, localRepositories: string[]) {
  if (localRepositories.length === 0) return null
  const real = await realpath(path).catch(() => null)
  if (real === null) return null
  for (const directory of localRepositories) {
    const root = await realpath(directory).catch(() => null)
    if (root !== null && isInside(real, root)) return { path: real, owner: await stat(real) }
  }
  return null
}

function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory.replace(/\/$/, '')}/`)
}

function accessTo(real: string, user: User): LocalAccess {
  const trusted = [real, join(real, '.git')].map((path) => `-c safe.directory=${quote(path)}`)
  const uploadPack = [...asUser(user), 'git', ...trusted, 'upload-pack'].join(' ')
  return { url: pathToFileURL(real).href, uploadPack }
}

/** Empty if this process cannot change its user; then only the checks protect. */
function asUser({ uid, gid }: User): string[] {
  if (process.getuid?.() !== 0 || uid === 0) return []
  const capabilities = ['--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all']
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', ...capabilities]
}

/** git passes the command to a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** From the top down, so that nothing inside a directory is accessed that others may not read. */
async function checkParents(url: string, path: string, seen: Set<string>): Promise<void> {
  const parts = path.split('/').filter((part) => part !== '')
  for (let depth = 0; depth <= parts.length; depth++) {
    const real = await realpath(`/${parts.slice(0, depth).join('/')}`).catch(() => missing(url))
    for (let directory = real; !seen.has(directory); directory = dirname(directory)) {
      seen.add(directory)
      checkMode(url, directory, await stat(directory))
    }
  }
}

/** Checks everything that git would open, including the targets of links, gitdir and alternates. */
async function checkRepository(url: string, real: string, seen: Set<string>): Promise<void> {
  const inner = join(real, '.git')
  const stats = await stat(inner).catch(() => null)
  const gitDirectory = stats?.isFile() ? await linkedDirectory(url, inner, stats) : stats ? inner : real
  await checkGitDirectory(url, gitDirectory, seen)
}

async function checkGitDirectory(url: string, directory: string, seen: Set<string>): Promise<void> {
  await checkParents(url, directory, seen)
  for (const name of readByGit) await checkEntry(url, join(directory, name), seen)
  const common = await readLines(join(directory, 'commondir'))
  const alternates = await readLines(join(directory, 'objects/info/alternates'))
  for (const line of common) await checkLinked(url, resolve(directory, line), seen, checkGitDirectory)
  for (const line of alternates) {
    await checkLinked(url, resolve(directory, 'objects', line), seen, checkObjects)
  }
}

async function checkObjects(url: string, directory: string, seen: Set<string>): Promise<void> {
  await checkEntry(url, directory, seen)
  for (const line of await readLines(join(directory, 'info/alternates'))) {
    await checkLinked(url, resolve(directory, line), seen, checkObjects)
  }
}

/** Two repositories may name each other as their alternates. */
async function checkLinked(
  url: string,
  path: string,
  seen: Set<string>,
  check: (url: string, path: string, seen: Set<string>) => Promise<void>,
): Promise<void> {
  const mark = `linked ${path}`
  if (seen.has(mark)) return
  seen.add(mark)
  await check(url, path, seen)
}

/** A file, or a folder with all its content. Missing files are fine: git does not read them either. */
async function checkEntry(url: string, path: string, seen: Set<string>): Promise<void> {
  const real = await realpath(path).catch(() => null)
  if (real === null) return
  await checkParents(url, dirname(real), seen)
  const stats = await stat(real).catch(() => null)
  if (stats === null) return
  checkMode(url, real, stats)
  if (!stats.isDirectory() || seen.has(`inside ${real}`)) return
  seen.add(`inside ${real}`)
  for (const entry of await readdir(real, { withFileTypes: true })) {
    const inside = join(real, entry.name)
    if (!entry.isFile()) await checkEntry(url, inside, seen)
    else await stat(inside).then((file) => checkMode(url, inside, file), ignoreMissing)
  }
}

function checkMode(url: string, path: string, stats: Stats): void {
  const needed = stats.isDirectory() ? 0o5 : 0o4
  if ((stats.mode & needed) === needed) return
  const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0')
  const advice = `make it readable (chmod o+rX), or start berthd with --local-repositories ${dirname(url)}`
  throw new Failure(
    'repository_private',
    `cannot read ${url}: ${path} has mode ${mode}, but a repository given by its path must be readable by ` +
      `every user of the host; ${advice}`,
    advice,
  )
}

/** In a worktree or a submodule, a file contains the path of the directory. */
async function linkedDirectory(url: string, file: string, stats: Stats): Promise<string> {
  checkMode(url, file, stats)
  const line = (await readLines(file))[0] ?? ''
  return resolve(dirname(file), line.replace(/^gitdir: */, ''))
}

/** git itself writes no NUL bytes, comments or unusual quoting there. */
async function readLines(file: string): Promise<string[]> {
  const text = await readStart(file).catch(() => '')
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

/** The owner of the repository may have put a pipe or an endless file there. */
async function readStart(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!(await file.stat()).isFile()) return ''
    const { buffer, bytesRead } = await file.read(Buffer.alloc(linksBytes), 0, linksBytes, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

function missing(url: string): never {
  throw new Failure('git_remote_unreachable', `cannot read ${url}: there is no such directory on this host`)
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
