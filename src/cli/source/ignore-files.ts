// Applies .gitignore and .berthignore to a path, as git does: the nearest file has priority, and within a
// file the last matching line. A .berthignore has priority over every .gitignore, so that `!dist` in it
// includes a folder that git ignores.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { readUntrustedFile } from '../config/project.ts'
import { CliFailure } from '../failure.ts'

const maxFileBytes = 1024 * 1024
/** Each additional `**` multiplies the number of ways to match a path. */
const maxDoubleStars = 4

export const ignoreFileNames = ['.berthignore', '.gitignore'] as const
type FileName = (typeof ignoreFileNames)[number]

interface RuleFile {
  name: FileName
  /** The folder that the patterns are relative to, as a path from the top; '' is the top. */
  folder: string
  lines: string[]
  rules: Ignore
}

/** By an ignore file, or by default if none matches. `!.env` in .berthignore overrides the default. */
export type ExclusionReason = 'by rule' | 'by default'

/** The rules of one folder. Paths are relative to the top, with `/`. */
export interface FolderRules {
  exclusionOf(path: string, isFolder: boolean): ExclusionReason | null
  /** The rules of a subfolder, including its own files. */
  enter(path: string): FolderRules
  /** The kinds of ignore files that were found so far. */
  names: FileName[]
}

export interface TopRules {
  rules: FolderRules
  /** The requested folder, relative to the top folder of the rules: '' or with a trailing slash. */
  prefix: string
}

/** The rules of a folder. In a repository, those of its parent folders apply too. Throws CliFailure. */
export function rulesOf(folder: string): TopRules {
  const top = repositoryOf(folder) ?? folder
  const parts = folder === top ? [] : folder.slice(top.length + (top.endsWith('/') ? 0 : 1)).split('/')
  let rules = toFolderRules(top, readRuleFiles(top, ''))
  for (const depth of parts.keys()) rules = rules.enter(parts.slice(0, depth + 1).join('/'))
  return { rules, prefix: parts.map((part) => `${part}/`).join('') }
}

function repositoryOf(folder: string): string | null {
  if (existsSync(join(folder, '.git'))) return folder
  return dirname(folder) === folder ? null : repositoryOf(dirname(folder))
}

function toFolderRules(top: string, files: RuleFile[]): FolderRules {
  return {
    exclusionOf: (path, isFolder) => {
      const verdict = verdictOf(files, isFolder ? `${path}/` : path)
      if (verdict !== null) return verdict ? 'by rule' : null
      return isExcludedByDefault(path, isFolder) ? 'by default' : null
    },
    enter(path) {
      const ownRules = readRuleFiles(top, path)
      const innerRules = files.map((file) =>
        ruleVerdict(file, `${path}/`) ? toInnerRules(file, path) : file,
      )
      return ownRules.length === 0 && innerRules.every((file, index) => file === files[index])
        ? this
        : toFolderRules(top, [...ownRules, ...innerRules])
    },
    names: ignoreFileNames.filter((name) => files.some((file) => file.name === name)),
  }
}

/** Secrets of this machine, and dependencies that a build reinstalls. */
function isExcludedByDefault(path: string, isFolder: boolean): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return isFolder ? name === 'node_modules' : /^(\.env(\.local|\..+\.local)?|berth\.secrets\.env)$/.test(name)
}

/** The nearest file comes first. */
function verdictOf(files: RuleFile[], path: string): boolean | null {
  for (const name of ignoreFileNames) {
    for (const file of files) {
      const verdict = file.name === name ? ruleVerdict(file, path) : null
      if (verdict !== null) return verdict
    }
  }
  return null
}

function ruleVerdict({ folder, rules }: RuleFile, path: string): boolean | null {
  const { ignored, unignored } = rules.test(folder === '' ? path : path.slice(folder.length + 1))
  return ignored ? true : unignored ? false : null
}

/**
 * A file that excludes a folder which another file re-includes: the library would exclude everything below
 * it. Inside the folder, its patterns without a slash still apply, because they match at every depth.
 */
function toInnerRules({ name, lines }: RuleFile, folder: string): RuleFile {
  return toRuleFile(
    name,
    folder,
    lines.filter((line) => !/\/./.test(line)),
  )
}

function readRuleFiles(top: string, folder: string): RuleFile[] {
  return ignoreFileNames.flatMap((name) => {
    const path = join(top, folder, name)
    const file = readUntrustedFile(path, maxFileBytes)
    if (file === null) return []
    const lines = file.text.replace(/^\uFEFF/, '').split(/\r?\n/)
    assertFastPatterns(path, lines)
    return [toRuleFile(name, folder, lines)]
  })
}

function toRuleFile(name: FileName, folder: string, lines: string[]): RuleFile {
  return { name, folder, lines, rules: ignore({ ignorecase: false }).add(lines) }
}

/** The folder may be untrusted, so a pattern must not take hours to match. */
function assertFastPatterns(path: string, lines: readonly string[]): void {
  const slow = lines.findIndex(
    (line) => !line.startsWith('#') && line.split('**').length - 1 > maxDoubleStars,
  )
  if (slow === -1) return
  throw new CliFailure(`${path}:${slow + 1} has more than ${maxDoubleStars} ** in one pattern`, {
    hint: 'write it as several patterns',
  })
}
