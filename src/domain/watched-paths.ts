// Which paths the patterns of a service cover. They are those of .gitignore, and the last one that covers a
// path decides about it, also below a folder that an earlier one covers.
//
// Each step consumes a part or moves the last star on, so that hostile patterns and paths take no longer than
// the product of their lengths. A regular expression could take hours.

interface Pattern {
  text: string
  isExclusion: boolean
  /** It covers only what is below what it names. */
  isFolder: boolean
  names: Parts<Parts<CharacterTest>>
}

const any = Symbol('any number of items')
type Parts<Part> = (Part | typeof any)[]
type CharacterTest = (character: string) => boolean

export interface PathsToCompare {
  patterns: string[]
  paths: string[]
}

/** The decision about a path: the pattern that covers it, and whether that is an exclusion. */
export type PathDecision = Pick<Pattern, 'text' | 'isExclusion'>

/** Decides about each path; null if no pattern covers it. A reader does it, since both may be long. */
export function decideOnPaths({ patterns, paths }: PathsToCompare): (PathDecision | null)[] {
  const decide = openWatchedPaths(patterns)
  return paths.map((path) => {
    const found = decide(path)
    return found && { text: found.text, isExclusion: found.isExclusion }
  })
}

/** The first path that the patterns cover; null without one. */
export function firstWatchedPath({ patterns, paths }: PathsToCompare): string | null {
  const decide = openWatchedPaths(patterns)
  return paths.find((path) => decide(path)?.isExclusion === false) ?? null
}

/** A function that finds the pattern that decides about a path; null if none covers it. */
export function openWatchedPaths(patterns: string[]): (path: string) => Pattern | null {
  const lastFirst = patterns.map(parse).reverse()
  return (path) => {
    const names = path.split('/').map((name) => [...name])
    return lastFirst.find((pattern) => covers(pattern, names)) ?? null
  }
}

function parse(text: string): Pattern {
  const isExclusion = text.startsWith('!')
  const body = text.slice(isExclusion ? 1 : 0)
  const path = body.replace(/\/$/, '')
  const isFromTop = path.includes('/')
  const names = path.replace(/^\//, '').split('/')
  // What it names is covered with everything below: `api/**` says the same of each name in `api`.
  if (names.at(-1) === '**') names[names.length - 1] = '*'
  const parts = names.map((name) => (name === '**' ? any : parseName(name)))
  return { text, isExclusion, isFolder: body !== path, names: isFromTop ? parts : [any, ...parts] }
}

function parseName(name: string): Parts<CharacterTest> {
  const parts = name.match(/\*+|\[[!^]?\]?[^\]]*\]|./gsu) ?? []
  return parts.map((part) => {
    if (part.startsWith('*')) return any
    if (part === '?') return () => true
    return part.length > 2 && part.startsWith('[') ? parseClass(part.slice(1, -1)) : (one) => one === part
  })
}

/** `a-z_`, `!0-9` */
function parseClass(body: string): CharacterTest {
  const isNegative = /^[!^]/.test(body)
  const ranges = [...body.slice(isNegative ? 1 : 0).matchAll(/(.)-(.)|(.)/gsu)]
  const isIn = (one: string) =>
    ranges.some(([, from, to, only]) => (only ? one === only : from! <= one && one <= to!))
  return (one) => isIn(one) !== isNegative
}

function covers({ names, isFolder }: Pattern, path: string[][]): boolean {
  const nameFits = (parts: Parts<CharacterTest>, name: string[]) =>
    matches(parts, name, (test, one) => test(one), 'whole')
  return matches(names, isFolder ? path.slice(0, -1) : path, nameFits, 'start')
}

/** Whether the parts match all items, or the first ones. */
function matches<Part, Item>(
  parts: Parts<Part>,
  items: Item[],
  fits: (part: Part, item: Item) => boolean,
  extent: 'whole' | 'start',
): boolean {
  let [at, item] = [0, 0]
  let star: { at: number; item: number } | null = null
  for (;;) {
    const part = parts[at]
    if (part === undefined && (extent === 'start' || item === items.length)) return true
    if (part === any) star = { at: ++at, item }
    else if (part !== undefined && item < items.length && fits(part, items[item]!))
      [at, item] = [at + 1, item + 1]
    else if (star !== null && star.item < items.length) [at, item] = [star.at, ++star.item]
    else return false
  }
}
