// A repository on this host, given by its path. A path gives access only to what every user of the host can
// read, or to what is below a directory that the operator listed. As root, git opens the repository as
// another user, so that the kernel also enforces this for a path that changes between the check and its use.
import type { Stats } from 'node:fs'
import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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
const readByGit = ['HEAD', 'config', 'packed-refs', 'shallow', 'refs', 'objects']

/** Call right before git runs. Throws `repository_private` with the path, or `git_remote_unreachable`. */
export async function openLocal(path: string, localRepositories: string[]): Promise<LocalAccess> {
  const named = await findNamed(path, localRepositories)
  if (named !== null) return accessTo(named.path, named.owner)
  await checkParents(path)
  const real = await realpath(path).catch(() => missing(path))
  const directory = await checkRepository(path, real)
  const { uploadPack } = accessTo(real, nobody)
  // Strict: exactly the checked directory, where git would otherwise try others, too.
  return { url: pathToFileURL(directory).href, uploadPack: `${uploadPack} --strict` }
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
async function checkParents(path: string): Promise<void> {
  const parts = path.split('/').filter((part) => part !== '')
  for (let depth = 0; depth <= parts.length; depth++) {
    const real = await realpath(`/${parts.slice(0, depth).join('/')}`).catch(() => missing(path))
    for (let directory = real; ; directory = dirname(directory)) {
      checkMode(path, directory, await stat(directory))
      if (directory === '/') break
    }
  }
}

/** Resolves with the directory of git. All that git reads of it must be in it. */
async function checkRepository(url: string, real: string): Promise<string> {
  const inner = join(real, '.git')
  const stats = await lookAt(inner)
  if (stats) checkMode(url, inner, stats)
  if (stats && !stats.isDirectory()) throw elsewhere(url, inner)
  const directory = stats ? inner : real
  for (const name of readByGit) await checkEntry(url, join(directory, name))
  for (const name of ['commondir', 'objects/info/alternates']) {
    if (await lookAt(join(directory, name))) throw elsewhere(url, join(directory, name))
  }
  return directory
}

/** A file, or a folder with its content. Missing files are fine: git does not read them either. */
async function checkEntry(url: string, path: string): Promise<void> {
  const stats = await lookAt(path)
  if (stats === null) return
  if (!stats.isFile() && !stats.isDirectory()) throw elsewhere(url, path)
  checkMode(url, path, stats)
  const names = stats.isDirectory() ? await readdir(path) : []
  for (const name of names) await checkEntry(url, join(path, name))
}

function lookAt(path: string): Promise<Stats | null> {
  return lstat(path).catch(() => null)
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

/** A link, a worktree or alternates could lead to files that only this process may read. */
function elsewhere(url: string, path: string): Failure {
  const advice = `start berthd with --local-repositories ${dirname(url)}`
  const text = `cannot read ${url}: ${path} leads to another place, as a link or a worktree does; ${advice}`
  return new Failure('repository_private', text, advice)
}

function missing(url: string): never {
  throw new Failure('git_remote_unreachable', `cannot read ${url}: there is no such directory on this host`)
}
