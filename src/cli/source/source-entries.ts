// The uploaded entries of a folder: everything except .git and ignored files, always in the same order. Links
// are entries and never followed. Entries that the server would reject are found before anything is sent.
import type { Stats } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { count, size } from '../../quantities.ts'
import { CliFailure } from '../failure.ts'
import { type ExclusionReason, type FolderRules, rulesOf } from './ignore-files.ts'

export interface SourceEntry {
  /** Relative to the folder, with `/`. */
  path: string
  kind: 'file' | 'folder' | 'link'
  mode: number
  /** The size of a file; 0 for other entries. */
  sizeBytes: number
  target: string
}

export interface Source {
  folder: string
  entries: SourceEntry[]
  sizeBytes: number
  ignoreFiles: string[]
  /** Paths excluded by the ignore files or by default. An excluded folder is listed without its content. */
  ignored: { path: string; reason: ExclusionReason }[]
  /** Sockets, pipes and devices, which an archive cannot contain. */
  specialFiles: string[]
}

interface WalkOptions {
  signal: AbortSignal
  onProgress(source: Source): void
}

const maxShownProblems = 5
const maxShownFolders = 3

/** Throws CliFailure for entries that the server would reject, and for unreadable ones. */
export async function listSource(folder: string, options: WalkOptions): Promise<Source> {
  const { rules, prefix } = rulesOf(folder)
  const source: Source = { folder, entries: [], sizeBytes: 0, ignoreFiles: [], ignored: [], specialFiles: [] }
  const names = new Set<string>()
  const walk = { source, prefix, names, problems: [], ...options }
  await addFolder(walk, rules, '').catch((error: unknown) => {
    throw options.signal.aborted || error instanceof CliFailure ? error : unreadable(error)
  })
  source.ignoreFiles = [...names].sort().reverse()
  assertNoProblems(walk.problems)
  if (source.entries.every(({ kind }) => kind === 'folder')) throw nothingToUpload(source)
  if (source.sizeBytes > archiveLimits.unpackedBytes) throw tooLarge(source, 'unpacked')
  return source
}

export function tooLarge(source: Source, state: 'packed' | 'unpacked'): CliFailure {
  const limitBytes = archiveLimits[`${state}Bytes`]
  return new CliFailure(`the source is too large: ${state} it exceeds ${size(limitBytes)}`, {
    hint: `exclude something in .berthignore; the largest:\n${largest(source).join('\n')}`,
  })
}

interface Walk extends WalkOptions {
  source: Source
  prefix: string
  names: Set<string>
  problems: string[]
}

async function addFolder(walk: Walk, rules: FolderRules, folder: string): Promise<void> {
  for (const name of rules.names) walk.names.add(name)
  const names = await readdir(join(walk.source.folder, folder))
  for (const name of names.sort(byCodeUnits)) {
    walk.signal.throwIfAborted()
    if (name === '.git') continue
    await addEntry(walk, rules, folder === '' ? name : `${folder}/${name}`)
  }
}

async function addEntry(walk: Walk, rules: FolderRules, path: string): Promise<void> {
  const problem = nameProblem(path)
  if (problem) return void walk.problems.push(`${path} ${problem}`)
  const absolutePath = join(walk.source.folder, path)
  const stats = await lstat(absolutePath)
  const isFolder = stats.isDirectory()
  const reason = rules.exclusionOf(walk.prefix + path, isFolder)
  if (reason !== null) return void walk.source.ignored.push({ path: isFolder ? `${path}/` : path, reason })
  if (stats.isSymbolicLink()) add(walk, toEntry(path, 'link', stats, await readlink(absolutePath)))
  else if (stats.isFile()) add(walk, toEntry(path, 'file', stats))
  else if (!isFolder) walk.source.specialFiles.push(path)
  if (!isFolder) return
  add(walk, toEntry(path, 'folder', stats))
  await addFolder(walk, rules.enter(walk.prefix + path), path)
}

function toEntry(path: string, kind: SourceEntry['kind'], stats: Stats, target = ''): SourceEntry {
  return { path, kind, mode: stats.mode & 0o777, sizeBytes: kind === 'file' ? stats.size : 0, target }
}

function add({ source, problems, onProgress }: Walk, entry: SourceEntry): void {
  const problem = entry.kind === 'link' ? linkProblem(entry.path, entry.target) : null
  if (problem) problems.push(`${entry.path} ${problem}`)
  source.entries.push(entry)
  source.sizeBytes += entry.sizeBytes
  if (source.entries.length > archiveLimits.entries) throw tooMany(source)
  onProgress(source)
}

/** The same order on every machine, in any locale. */
function byCodeUnits(one: string, other: string): number {
  return one < other ? -1 : 1
}

function assertNoProblems(problems: string[]): void {
  if (problems.length === 0) return
  const more = problems.length - maxShownProblems
  const lines = [...problems.slice(0, maxShownProblems), ...(more > 0 ? [`and ${more} more`] : [])]
  throw new CliFailure(['the server would reject this source', ...lines].join('\n'), {
    hint: 'fix it, or exclude it in .berthignore',
  })
}

function nothingToUpload({ folder, ignoreFiles }: Source): CliFailure {
  const why = ignoreFiles.length > 0 ? `, or ${ignoreFiles.join(' and ')} exclude everything` : ''
  return new CliFailure(`nothing to upload: ${folder} has no files${why}`)
}

function tooMany(source: Source): CliFailure {
  const limit = archiveLimits.entries.toLocaleString('en')
  const folders = [...sumsOf(source, () => 1)].slice(0, maxShownFolders)
  const lines = folders.map(([name, amount]) => `  ${name}  ${count(amount, 'file')}`)
  return new CliFailure(`the source has more than ${limit} files and folders`, {
    hint: `exclude something in .berthignore; the fullest so far:\n${lines.join('\n')}`,
  })
}

function largest(source: Source): string[] {
  const folders = [...sumsOf(source, ({ sizeBytes }) => sizeBytes)].slice(0, maxShownFolders)
  return folders.map(([name, sizeBytes]) => `  ${name}  ${size(sizeBytes)}`)
}

/** Sums by top-level entry, largest first. */
function sumsOf({ entries }: Source, weigh: (entry: SourceEntry) => number): [string, number][] {
  const sums = new Map<string, number>()
  for (const entry of entries) {
    const [first = '', ...below] = entry.path.split('/')
    const name = below.length > 0 || entry.kind === 'folder' ? `${first}/` : first
    sums.set(name, (sums.get(name) ?? 0) + weigh(entry))
  }
  return [...sums].sort(([, one], [, other]) => other - one)
}

function unreadable(error: unknown): CliFailure {
  const { code, path, message } = error as NodeJS.ErrnoException
  return new CliFailure(`${path ?? 'the source'} cannot be read (${code ?? message})`, {
    hint: 'exclude it in .berthignore, or change its permissions',
  })
}

// The server's rules for an archive, to report violations before the upload. src/archive/ decides.

const mebibyte = 1024 * 1024

export const archiveLimits = {
  entries: 200_000,
  unpackedBytes: 4096 * mebibyte,
  packedBytes: 512 * mebibyte,
} as const

const pathLimitBytes = 2048
/** Node's replacement for bytes that are not UTF-8. */
const replacement = '\uFFFD'

/** The reason why the server would reject an entry of this name; null if it would not. */
function nameProblem(path: string): string | null {
  if (path.includes(replacement)) return 'has a name that is not UTF-8'
  return Buffer.byteLength(path) > pathLimitBytes ? 'has a path that is too long' : null
}

/** Why a symbolic link would be rejected, or null. No `..` may follow a name, which may be a link itself. */
export function linkProblem(path: string, target: string): string | null {
  if (target.includes(replacement)) return 'is a link with a target that is not UTF-8'
  if (Buffer.byteLength(target) > pathLimitBytes) return 'is a link with a target that is too long'
  if (target.startsWith('/')) return `is a link to the absolute path ${target}`
  const parts = target.split('/').filter((part) => part !== '' && part !== '.')
  const climbs = parts.filter((part) => part === '..').length
  if (climbs > depthOf(path)) return `is a link that points out of the folder (${target})`
  return parts.lastIndexOf('..') >= climbs ? `is a link with .. after a name (${target})` : null
}

/** Whether a link points out of its top-level folder, but not out of the source. */
export function leavesTopFolder(path: string, target: string): boolean {
  return target.split('/').filter((part) => part === '..').length === depthOf(path)
}

function depthOf(path: string): number {
  return path.split('/').length - 1
}
