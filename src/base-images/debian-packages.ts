// Debian packages for building images: selected by apt, stored in the user's cache, never installed. The
// file name (`libc6_2.36-9+deb12u14_amd64.deb`) identifies a package.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { hasApt, type OwnLists, openOwnLists } from './apt.ts'
import { runForBytes } from './command.ts'
import { withFileLock } from './file-lock.ts'

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
const hostLists = openOwnLists(join(cacheDirectory, 'apt'))
const listsOf = ({ release }: Pick<PackageWish, 'release'>) =>
  release === undefined ? hostLists : openOwnLists(join(cacheDirectory, `apt-${release}`), release)
const unfetchedChoiceMs = 60 * 60_000
const fetchedChoiceMs = 24 * 60 * 60_000
/** How long the previous selection stays valid after a failed refresh. */
const againMs = 60 * 60_000
/** A refresh that takes longer is aborted, and the previous selection is used. */
const refreshMs = 45_000

/**
 * The file names that fulfil a wish, refreshed at most daily. If no source responds, the previous
 * selection is kept for another hour. A selection that was not fetched is valid for an hour: a mirror may
 * drop its files.
 */
export async function choosePackages(wish: PackageWish, signal?: AbortSignal): Promise<string[]> {
  await mkdir(packageDirectory, { recursive: true })
  const cachedChoice = await recall(wish)
  if (cachedChoice?.isCurrent) return cachedChoice.files
  // apt rejects one of two concurrent updates of the lists.
  const chooseOnce = async () => {
    const other = await recall(wish)
    return other?.isCurrent ? other.files : await choose(wish, other?.isFetched ? other.files : null, signal)
  }
  if (!hasApt() && cachedChoice?.isFetched) return cachedChoice.files
  return selectWithApt(chooseOnce, signal)
}

async function choose(wish: PackageWish, previous: string[] | null, signal: AbortSignal | undefined) {
  const path = choiceFile(wish)
  try {
    const files = await resolveFresh(wish, previous !== null, signal)
    await writeFile(`${path}.${process.pid}`, `${JSON.stringify(files, null, 2)}\n`)
    await rename(`${path}.${process.pid}`, path)
    return files
  } catch (error) {
    signal?.throwIfAborted()
    if (previous === null) throw error
    const askedAt = new Date(Date.now() - fetchedChoiceMs + againMs)
    await utimes(path, askedAt, askedAt)
    return previous
  }
}

/** `isBounded` if there is a previous selection. Without one, old lists are better than none. */
async function resolveFresh(wish: PackageWish, isBounded: boolean, signal: AbortSignal | undefined) {
  const ends = [signal, isBounded ? AbortSignal.timeout(refreshMs) : undefined]
  const bound = AbortSignal.any(ends.filter((end) => end !== undefined))
  const problem = await listsOf(wish)
    .update(bound)
    .then(
      () => null,
      (error: unknown) => error,
    )
  if (problem !== null && isBounded) throw problem
  bound.throwIfAborted()
  const files = await resolve(wish, bound)
  if (files.length === 0) throw problem ?? new Error(`apt has no package ${wish.packages.join(', ')}`)
  return files
}

/** Fetches the packages that are missing from the cache. */
export async function fetchPackages(
  files: string[],
  wish: Pick<PackageWish, 'release'> = {},
  signal?: AbortSignal,
): Promise<void> {
  const missing = files.filter((file) => !existsSync(join(packageDirectory, file)))
  const lists = listsOf(wish)
  if (missing.length > 0) await selectWithApt(() => downloadFresh(lists, missing, signal), signal)
}

/** A mirror may have dropped files that the lists still name: the lists are updated once. */
async function downloadFresh(lists: OwnLists, files: string[], signal: AbortSignal | undefined) {
  try {
    await download(lists, files, signal)
  } catch {
    signal?.throwIfAborted()
    await lists.update(signal)
    await download(lists, files, signal)
  }
}

/** The files of a package, as a tar archive. */
export function readPackage(file: string, signal?: AbortSignal): Promise<Buffer> {
  return runForBytes('dpkg-deb', ['--fsys-tarfile', join(packageDirectory, file)], { signal })
}

async function selectWithApt<T>(question: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!hasApt()) throw new PackagesMissing('there is no apt here')
  try {
    return await withFileLock(join(cacheDirectory, 'apt.lock'), question, signal)
  } catch (error) {
    signal?.throwIfAborted()
    throw new PackagesMissing(error instanceof Error ? error.message : String(error))
  }
}

function choiceFile(wish: PackageWish): string {
  const hash = createHash('sha256').update(JSON.stringify(wish)).digest('hex').slice(0, 12)
  return join(packageDirectory, `choice-${hash}.json`)
}

interface KnownChoice {
  files: string[]
  isFetched: boolean
  isCurrent: boolean
}

async function recall(wish: PackageWish): Promise<KnownChoice | null> {
  const path = choiceFile(wish)
  const files = await readChoice(path)
  if (files === null) return null
  const isFetched = files.every((file) => existsSync(join(packageDirectory, file)))
  const isCurrent = (await ageMs(path)) < (isFetched ? fetchedChoiceMs : unfetchedChoiceMs)
  return { files, isFetched, isCurrent }
}

async function ageMs(path: string): Promise<number> {
  return Date.now() - (await stat(path)).mtimeMs
}

/**
 * An unreadable file, for example one truncated by a power loss, counts as missing; apt then resolves the
 * packages again.
 */
async function readChoice(path: string): Promise<string[] | null> {
  try {
    const choice: unknown = JSON.parse(await readFile(path, 'utf8'))
    return Array.isArray(choice) ? choice.map(String) : null
  } catch {
    return null
  }
}

// With an empty status file apt plans for an empty machine, whatever is installed on this one.
async function resolve(wish: PackageWish, signal: AbortSignal | undefined): Promise<string[]> {
  const state = join(packageDirectory, 'empty')
  await mkdir(join(state, 'partial'), { recursive: true })
  await writeFile(join(state, 'status'), '')
  const nothingInstalled = ['-o', `Dir::State::status=${state}/status`, '-o', `Dir::Cache::archives=${state}`]
  const plan = ['install', '--print-uris', '-qq', '--no-install-recommends', ...wish.packages]
  const response = await listsOf(wish).apt([...nothingInstalled, ...plan], { signal })
  const lines = response.split('\n').filter((line) => line.startsWith("'"))
  const files = lines.map((line) => line.split(' ')[1] ?? '')
  return files.filter((file) => isWanted(wish, nameOf(file))).sort()
}

function isWanted({ without = [], only }: PackageWish, name: string): boolean {
  return !without.includes(name) && (only?.includes(name) ?? true)
}

// Downloads into a temporary folder first, so that a truncated download is never used as a package.
async function download(lists: OwnLists, files: string[], signal: AbortSignal | undefined): Promise<void> {
  const arrival = await mkdtemp(join(packageDirectory, 'arriving-'))
  try {
    const args = ['download', '-o', 'APT::Sandbox::User=root', ...files.map(versionedName)]
    await lists.apt(args, { cwd: arrival, signal })
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
