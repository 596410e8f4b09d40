// The uploaded entries of a folder: everything except .git and ignored files, always in the same order. Links
// are entries and never followed. A link or a name that the server would refuse is found before the upload.
import type { Stats } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { size } from '../../quantities.ts'
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

/** Throws CliFailure for unreadable entries, and above the limits of the server. */
export async function listSource(folder: string, options: WalkOptions): Promise<Source> {
  const { rules, prefix } = rulesOf(folder)
  const source: Source = { folder, entries: [], sizeBytes: 0, ignoreFiles: [], ignored: [], specialFiles: [] }
  const names = new Set<string>()
  const walk = { source, prefix, names, ...options }
  await addFolder(walk, rules, '').catch((error: unknown) => {
    throw options.signal.aborted || error instanceof CliFailure ? error : unreadable(error)
  })
  source.ignoreFiles = [...names].sort().reverse()
  if (source.entries.every(({ kind }) => kind === 'folder')) throw nothingToUpload(source)
  if (source.sizeBytes > archiveLimits.unpackedBytes) throw tooLarge('unpacked')
  return source
}

const excluding = 'exclude something in .berthignore: `du -a` shows what is large, and where many files are'

export function tooLarge(state: 'packed' | 'unpacked'): CliFailure {
  const limitBytes = archiveLimits[`${state}Bytes`]
  return new CliFailure(`the source is too large: ${state} it exceeds ${size(limitBytes)}`, {
    hint: excluding,
  })
}

interface Walk extends WalkOptions {
  source: Source
  prefix: string
  names: Set<string>
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
  // Node reads what is not UTF-8 as this character.
  if (path.includes('\uFFFD')) throw refused(path, 'has a name that is not UTF-8')
  const absolutePath = join(walk.source.folder, path)
  const stats = await lstat(absolutePath)
  const isFolder = stats.isDirectory()
  const reason = rules.exclusionOf(walk.prefix + path, isFolder)
  if (reason !== null) return void walk.source.ignored.push({ path: isFolder ? `${path}/` : path, reason })
  if (stats.isSymbolicLink()) add(walk, toEntry(path, 'link', stats, await targetOf(walk, path)))
  else if (stats.isFile()) add(walk, toEntry(path, 'file', stats))
  else if (!isFolder) walk.source.specialFiles.push(path)
  if (!isFolder) return
  add(walk, toEntry(path, 'folder', stats))
  await addFolder(walk, rules.enter(walk.prefix + path), path)
}

async function targetOf({ source }: Walk, path: string): Promise<string> {
  const target = await readlink(join(source.folder, path))
  const leavesSource = target.startsWith('/') || /^\.\.(\/|$)/.test(posix.join(posix.dirname(path), target))
  if (leavesSource || target.includes('\uFFFD')) throw refused(path, 'is a link that leads out of the source')
  return target
}

function refused(path: string, problem: string): CliFailure {
  return new CliFailure(`${path} ${problem}`, { hint: 'change it, or exclude it in .berthignore' })
}

function toEntry(path: string, kind: SourceEntry['kind'], stats: Stats, target = ''): SourceEntry {
  return { path, kind, mode: stats.mode & 0o777, sizeBytes: kind === 'file' ? stats.size : 0, target }
}

function add({ source, onProgress }: Walk, entry: SourceEntry): void {
  source.entries.push(entry)
  source.sizeBytes += entry.sizeBytes
  if (source.entries.length > archiveLimits.entries) {
    const limit = archiveLimits.entries.toLocaleString('en')
    throw new CliFailure(`the source has more than ${limit} files and folders`, { hint: excluding })
  }
  onProgress(source)
}

/** The same order on every machine, in any locale. */
function byCodeUnits(one: string, other: string): number {
  return one < other ? -1 : 1
}

function nothingToUpload({ folder, ignoreFiles }: Source): CliFailure {
  const why = ignoreFiles.length > 0 ? `, or ${ignoreFiles.join(' and ')} exclude everything` : ''
  return new CliFailure(`nothing to upload: ${folder} has no files${why}`)
}

function unreadable(error: unknown): CliFailure {
  const { code, path, message } = error as NodeJS.ErrnoException
  return new CliFailure(`${path ?? 'the source'} cannot be read (${code ?? message})`, {
    hint: 'exclude it in .berthignore, or change its permissions',
  })
}

// The server's limits of an archive, to report a violation before the upload. src/archive/ decides.

const mebibyte = 1024 * 1024

export const archiveLimits = {
  entries: 200_000,
  unpackedBytes: 4096 * mebibyte,
  packedBytes: 512 * mebibyte,
} as const
