// The rules of a .dockerignore, matched folder by folder. The source contains the file, so no pattern may
// take long to match. One regular expression for a whole path would: each `**` and each second `*` of a name
// is tried at every position, and these attempts multiply. @balena/dockerignore is no replacement. It treats
// `app/(shop)` as a regular expression, and differs from a port of Docker's matcher in 13% of 360,000
// generated cases with special characters, compared with 0.1% for these rules. No limit on stars makes it
// safe: `(a+)+b` blocks it for 4 s on a name of 28 characters, `**/a/**/b` for 30 s in 2,000 nested folders.

import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { join, posix, sep } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { Failure, messageOf } from '../../errors.ts'
import { size } from '../../quantities.ts'

export interface IgnoreRules {
  /** Whether an ignored folder may contain a path that is not ignored. */
  hasExceptions: boolean
  /** Takes a path relative to the file's folder, with `/`. Yields to the event loop; throws once aborted. */
  ignores(path: string, signal?: AbortSignal): Promise<boolean>
}

/** One path segment: a literal name, a pattern for one name, or null for any number of folders (`**`). */
type Step = string | RegExp | null

interface Rule {
  steps: Step[]
  isException: boolean
}

/** Files of real sources have up to some 300 patterns of up to some 150 characters. */
export const maxPatterns = 4096
export const maxPatternLength = 512
const maxStars = 2
const turnMs = 10

/** Lines that are no comment, with their numbers. */
export function ignoreLines(text: string): { line: string; number: number }[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const numbered = lines.map((line, index) => ({ line: line.trim(), number: index + 1 }))
  return numbered.filter(({ line }) => line !== '' && !line.startsWith('#'))
}

/** Throws `build_failed` with the file and the line for a pattern that is invalid or exceeds the limits. */
export function parseIgnore(text: string, file: string): IgnoreRules {
  const lines = ignoreLines(text)
  checkNumber(lines, file)
  return toRules(lines.map(({ line, number }) => parseRule(line, `line ${number} of ${file}`)))
}

/** Parses lines of Berth, which may contain those of a source. Throws as `parseIgnore` does. */
export function ignoreRules(lines: string[]): IgnoreRules {
  checkNumber(lines, '.dockerignore, with what Berth adds,')
  return toRules(lines.map((line) => parseRule(line, `the pattern ${line}`)))
}

function checkNumber({ length }: unknown[], what: string): void {
  if (length > maxPatterns) throw new Failure('build_failed', `${what} has more than ${maxPatterns} patterns`)
}

function toRules(rules: Rule[]): IgnoreRules {
  const lastFirst = rules.toReversed()
  let turnEnds = 0
  return {
    hasExceptions: rules.some(({ isException }) => isException),
    ignores: async (path, signal) => {
      const names = path.split('/')
      for (const { steps, isException } of lastFirst) {
        if (performance.now() > turnEnds) {
          await setImmediate()
          signal?.throwIfAborted()
          turnEnds = performance.now() + turnMs
        }
        if (covers(steps, names)) return !isException
      }
      return false
    },
  }
}

function parseRule(line: string, where: string): Rule {
  if (line.length > maxPatternLength) {
    throw new Failure('build_failed', `${where} is longer than ${maxPatternLength} characters`)
  }
  const isException = line.startsWith('!')
  const pattern = posix.normalize(isException ? line.slice(1).trim() : line).replace(/^\/|\/$/g, '')
  const parts = spread(pattern).split('/')
  if (parts.filter((part) => part === '**').length > maxStars) {
    throw new Failure('build_failed', `${where} has more than ${maxStars} **`)
  }
  return { steps: parts.map((part) => toStep(part, where)), isException }
}

/**
 * Makes each `**` a path segment of its own. `x**y` matches a name that starts with x, then any folders, then
 * y. `**x` matches any path that ends in x if x is plain text, otherwise any folders, then x: Docker
 * distinguishes these two cases as well.
 */
function spread(pattern: string): string {
  const suffix = pattern.replace(/^\*\*(?=[^/*?[\]\\][^*?[\]\\]*$)/, '**/*')
  const whole = suffix.replace(/(\\.)|\*{2,}/g, (stars, escaped, at: number) => {
    if (escaped) return escaped
    const [before, after] = [suffix[at - 1] ?? '/', suffix[at + stars.length]]
    if (after === undefined) return before === '/' ? '**' : '*'
    return `${before === '/' ? '' : '*/'}**${after === '/' ? '' : '/'}`
  })
  // All that is in a folder is ignored with it.
  return whole.replace(/(\/|^)\*\*$/, '$1*')
}

/** An escaped character, a set of characters, or any other character. */
const tokens = /\\(.)|\[(\^?)((?:\\.|[^\]\\])+)\]|./gsu

function toStep(part: string, where: string): Step {
  if (part === '**') return null
  let stars = 0
  let isLiteral = true
  const source = part.replace(tokens, (token, escaped, negated, set, at: number) => {
    // Every later `[` would be read to the end as well.
    if (token === '[' && part[at + 1] !== ']') throw notPattern(where, "'[' has no ']'")
    stars += token === '*' ? 1 : 0
    isLiteral &&= !'*?[\\'.includes(token[0]!)
    if (escaped) return literal(escaped)
    if (set) return `[${negated}${set.replace(/\\(.)/gsu, inSet)}]`
    return { '*': '.*', '?': '.' }[token as string] ?? (token === '[' ? token : literal(token))
  })
  if (stars > maxStars) {
    throw new Failure('build_failed', `${where} has more than ${maxStars} * in '${part.slice(0, 64)}'`)
  }
  return isLiteral ? part : compile(source, where)
}

function literal(character: string): string {
  return character.replace(/[\^$\\.*+?()[\]{}|/]/, '\\$&')
}

function inSet(_: string, character: string): string {
  return /[\^\\[\]-]/.test(character) ? `\\${character}` : character
}

function compile(source: string, where: string): RegExp {
  try {
    return new RegExp(`^${source}$`, 'su')
  } catch (error) {
    // The message begins with the whole pattern.
    throw notPattern(where, messageOf(error).split(': ').at(-1)!)
  }
}

function notPattern(where: string, reason: string): Failure {
  return new Failure('build_failed', `${where} is not a pattern: ${reason}`)
}

/** Whether the steps match the path or a folder that contains it. */
function covers(steps: Step[], names: string[]): boolean {
  const [first] = steps
  // Most patterns end here, at half the cost.
  if (typeof first === 'string' && first !== names[0]) return false
  let positions = new Set([0])
  for (const name of names) {
    const next = new Set<number>()
    for (let at of positions) {
      for (; steps[at] === null; at++) next.add(at)
      if (fits(steps[at]!, name)) next.add(at + 1)
    }
    if (next.has(steps.length)) return true
    if (next.size === 0) return false
    positions = next
  }
  return false
}

function fits(step: Exclude<Step, null>, name: string): boolean {
  return typeof step === 'string' ? step === name : step.test(name)
}

interface IgnoreFile {
  text: string
  rules: IgnoreRules
}

export const maxIgnoreBytes = 256 * 1024

/** Null without such a file, or for a path out of `root`. Throws `build_failed` if it exceeds the limits. */
export async function readIgnoreFile(root: string, path: string): Promise<IgnoreFile | null> {
  const base = await realpath(root)
  const realPath = await realpath(join(base, path)).catch(() => null)
  if (realPath === null || !realPath.startsWith(base + sep)) return null
  const text = (await readBounded(realPath, { name: path, maxBytes: maxIgnoreBytes })).toString('utf8')
  return { text, rules: parseIgnore(text, path) }
}

/** Throws `build_failed` when it is not a file, or too large. */
export async function readBounded(
  realPath: string,
  { name, maxBytes }: { name: string; maxBytes: number },
): Promise<Buffer> {
  // Opening a pipe must not block. The checks use the open handle, because the path may point to another file
  // by the time it is opened.
  const handle = await open(realPath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (!(await handle.stat()).isFile()) throw new Failure('build_failed', `${name} is not a file`)
    const bytes = Buffer.alloc(maxBytes + 1)
    const { bytesRead } = await handle.read(bytes, 0, bytes.length)
    if (bytesRead <= maxBytes) return bytes.subarray(0, bytesRead)
    throw new Failure('build_failed', `${name} is larger than ${size(maxBytes)}`)
  } finally {
    await handle.close()
  }
}
