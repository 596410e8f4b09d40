// The visible first steps of an upload: scanning the folder, then packing it.
import { count, size } from '../../quantities.ts'
import type { Cli } from '../client/session.ts'
import { type Output, plain } from '../terminal/output.ts'
import { showStep } from '../terminal/phase-line.ts'
import type { ExclusionReason } from './ignore-files.ts'
import { type PackedSource, packSource } from './pack.ts'
import { listSource, type Source } from './source-entries.ts'

export interface Inspected {
  source: Source
  tookMs: number
}

const name = 'packing'
const shownPaths = 6

/** Throws CliFailure for an unreadable source, and for one that the server would reject. */
export async function inspectSource({ out, signal }: Cli, folder: string): Promise<Inspected> {
  const startedAt = Date.now()
  let seen: Source | null = null
  const onProgress = (source: Source) => {
    seen = source
  }
  const detail = () => (seen ? sourceSize(seen) : '')
  const work = () => listSource(folder, { signal, onProgress })
  const source = await showStep(out, { name, detail, summary: () => null }, work)
  reportExcluded(out, source)
  return { source, tookMs: Date.now() - startedAt }
}

/** Reports what was excluded, and what probably should have been. */
function reportExcluded(out: Output, { entries, ignored, ignoreFiles, specialFiles }: Source): void {
  const pathsOf = (wanted: ExclusionReason) =>
    ignored.filter(({ reason }) => reason === wanted).map(({ path }) => path)
  const byDefault = pathsOf('by default')
  const byRule = pathsOf('by rule')
  const say = (text: string) => out.say(out.tint('dim', `   ${text}`))
  if (!out.isJson && byRule.length > 0) say(`excluded by ${ignoreFiles.join(' and ')}: ${shortList(byRule)}`)
  if (byDefault.length > 0)
    say(`excluded by default: ${shortList(byDefault)} (!NAME in .berthignore includes it)`)
  if (specialFiles.length > 0) say(`excluded, because archives cannot contain it: ${shortList(specialFiles)}`)
  const secrets = entries
    .filter(({ kind, path }) => kind === 'file' && isEnvFile(path))
    .map(({ path }) => path)
  if (secrets.length > 0) {
    out.say(
      `   ${out.tint('yellow', '!')} ${shortList(secrets)} will be in the image: use berth env for secrets`,
    )
  }
}

/** Matches `.env` and `.env.production`, but not templates such as `.env.example`. */
function isEnvFile(path: string): boolean {
  return /(^|\/)\.env(\.(?!example$|sample$|template$|dist$|defaults$)[^/]+)?$/.test(path)
}

function shortList(paths: string[]): string {
  const more = paths.length - shownPaths
  return plain(paths.slice(0, shownPaths).join(', ')) + (more > 0 ? ` and ${more} more` : '')
}

export function packWithProgress({ out, signal }: Cli, { source, tookMs }: Inspected): Promise<PackedSource> {
  let packedBytes = 0
  const onPacked = (sizeBytes: number) => {
    packedBytes += sizeBytes
  }
  const percent = () => Math.floor((packedBytes / Math.max(1, source.sizeBytes)) * 100)
  const detail = () => `${sourceSize(source)}, ${percent()}%`
  const summary = () => sourceSize(source) + ruleFilesLabel(source)
  const step = { name, detail, summary, startedAt: Date.now() - tookMs }
  return showStep(out, step, () => packSource(source, { signal, onPacked }))
}

function sourceSize({ entries, sizeBytes }: Source): string {
  return `${count(entries.filter(({ kind }) => kind !== 'folder').length, 'file')}, ${size(sizeBytes)}`
}

/** ` (.berthignore)` */
function ruleFilesLabel({ ignoreFiles }: Source): string {
  return ignoreFiles.length > 0 ? ` (${ignoreFiles.join(', ')})` : ''
}
