// Debian packages for images and programs, selected by apt with lists of our own, which needs no root, and
// never installed. The file name (`libc6_2.36-9+deb12u14_amd64.deb`) identifies a package.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { apt, hasApt } from '../system/apt.ts'
import { type CommandOptions, runForBytes } from '../system/command.ts'
import { withFileLock } from '../system/file-lock.ts'

export interface PackageWish {
  /** Packages to include with all their dependencies. */
  packages: string[]
  /** Packages to exclude, because only installation scripts need them. */
  without?: string[]
  /** If set, only these of the resulting packages are included. */
  only?: string[]
  /** A release of Debian, such as `trixie`; that of this host by default. */
  release?: string
}

/** apt is missing, or no reachable mirror has the packages. */
export class PackagesMissing extends Error {}

export const cacheDirectory = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'berth')
const packageDirectory = join(cacheDirectory, 'packages')
const archive = 'http://deb.debian.org/debian'
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
const bounded = ['-o', 'Acquire::http::Timeout=10', '-o', 'Acquire::https::Timeout=10']
const choiceMs = 24 * 60 * 60_000

/**
 * The file names that fulfil a wish; they are in the cache when this resolves. Refreshed at most daily. If no
 * source responds, the previous selection stays. Throws `PackagesMissing`.
 */
export async function choosePackages(wish: PackageWish): Promise<string[]> {
  const known = await recall(wish)
  if (known?.isCurrent) return known.files
  if (!hasApt()) {
    if (known) return known.files
    throw new PackagesMissing('there is no apt here')
  }
  // apt rejects one of two concurrent updates of the lists.
  return withFileLock(join(cacheDirectory, 'apt.lock'), async () => {
    const other = await recall(wish)
    return other?.isCurrent ? other.files : choose(wish, other?.files ?? null)
  })
}

async function choose(wish: PackageWish, previous: string[] | null): Promise<string[]> {
  const path = choiceFile(wish)
  try {
    await updateLists(wish)
    const files = await resolve(wish)
    await download(
      wish,
      files.filter((file) => !existsSync(join(packageDirectory, file))),
    )
    await writeFile(`${path}.${process.pid}`, `${JSON.stringify(files, null, 2)}\n`)
    await rename(`${path}.${process.pid}`, path)
    return files
  } catch (error) {
    if (previous === null) throw new PackagesMissing(error instanceof Error ? error.message : String(error))
    await utimes(path, new Date(), new Date())
    return previous
  }
}

/** The files of a package, as a tar archive. */
export function readPackage(file: string): Promise<Buffer> {
  return runForBytes('dpkg-deb', ['--fsys-tarfile', join(packageDirectory, file)])
}

/** What a package says of itself, as in dpkg's database. */
export async function readControl(file: string): Promise<string> {
  return (await runForBytes('dpkg-deb', ['--field', join(packageDirectory, file)])).toString('utf8')
}

/** The selection of an earlier run, if its packages are in the cache. */
async function recall(wish: PackageWish): Promise<{ files: string[]; isCurrent: boolean } | null> {
  const path = choiceFile(wish)
  try {
    const files: string[] = JSON.parse(await readFile(path, 'utf8'))
    if (!files.every((file) => existsSync(join(packageDirectory, file)))) return null
    return { files, isCurrent: Date.now() - (await stat(path)).mtimeMs < choiceMs }
  } catch {
    return null
  }
}

function choiceFile(wish: PackageWish): string {
  const hash = createHash('sha256').update(JSON.stringify(wish)).digest('hex').slice(0, 12)
  return join(packageDirectory, `choice-${hash}.json`)
}

function listsDirectory({ release }: PackageWish): string {
  return join(cacheDirectory, release === undefined ? 'apt' : `apt-${release}`)
}

function aptWithLists(wish: PackageWish, args: string[], options?: CommandOptions): Promise<string> {
  const directory = listsDirectory(wish)
  const settings = [
    `Dir::State::lists=${directory}/lists`,
    `Dir::Cache=${directory}/cache`,
    // As root, apt would switch to a user who cannot write here.
    'APT::Sandbox::User=root',
    ...(wish.release === undefined
      ? []
      : [`Dir::Etc::sourcelist=${directory}/sources.list`, 'Dir::Etc::sourceparts=-']),
  ]
  return apt([...settings.flatMap((setting) => ['-o', setting]), ...args], options)
}

async function updateLists(wish: PackageWish): Promise<void> {
  const directory = listsDirectory(wish)
  await mkdir(join(directory, 'lists', 'partial'), { recursive: true })
  await mkdir(join(directory, 'cache', 'archives', 'partial'), { recursive: true })
  if (wish.release !== undefined) {
    const source = `deb [signed-by=${keyring}] ${archive} ${wish.release} main\n`
    await writeFile(join(directory, 'sources.list'), source)
  }
  await aptWithLists(wish, [...bounded, 'update'])
}

// With an empty status file apt plans for an empty machine, whatever is installed on this one.
async function resolve(wish: PackageWish): Promise<string[]> {
  const state = join(packageDirectory, 'empty')
  await mkdir(join(state, 'partial'), { recursive: true })
  await writeFile(join(state, 'status'), '')
  const nothingInstalled = ['-o', `Dir::State::status=${state}/status`, '-o', `Dir::Cache::archives=${state}`]
  const plan = ['install', '--print-uris', '-qq', '--no-install-recommends', ...wish.packages]
  const response = await aptWithLists(wish, [...nothingInstalled, ...plan])
  const lines = response.split('\n').filter((line) => line.startsWith("'"))
  const files = lines.map((line) => line.split(' ')[1] ?? '').filter((file) => isWanted(wish, nameOf(file)))
  if (files.length === 0) throw new Error(`apt has no package ${wish.packages.join(', ')}`)
  return files.sort()
}

function isWanted({ without = [], only }: PackageWish, name: string): boolean {
  return !without.includes(name) && (only?.includes(name) ?? true)
}

// Downloads into a temporary folder first, so that a truncated download is never used as a package.
async function download(wish: PackageWish, files: string[]): Promise<void> {
  if (files.length === 0) return
  const arrival = await mkdtemp(join(packageDirectory, 'arriving-'))
  try {
    await aptWithLists(wish, ['download', ...files.map(versionedName)], { cwd: arrival })
    for (const file of await readdir(arrival)) await rename(join(arrival, file), join(packageDirectory, file))
  } finally {
    await rm(arrival, { recursive: true })
  }
}

function nameOf(file: string): string {
  return file.slice(0, file.indexOf('_'))
}

function versionedName(file: string): string {
  const [name, version] = file.split('_')
  return `${name}=${decodeURIComponent(version ?? '')}`
}
