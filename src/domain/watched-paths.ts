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

/** Finds the pattern that decides about a path; null if none covers it. Yields after each comparison. */
export type WatchedPaths = (path: string) => Generator<void, Pattern | null>

export function openWatchedPaths(patterns: string[]): WatchedPaths {
  const lastFirst = patterns.map(parse).reverse()
  return function* (path) {
    const names = path.split('/').map((name) => [...name])
    for (const pattern of lastFirst) {
      if (covers(pattern, names)) return pattern
      yield
    }
    return null
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

type Range = [from: number, to: number]

/** `a-z_`, `!0-9` */
function parseClass(body: string): CharacterTest {
  const isNegative = /^[!^]/.test(body)
  const ranges = [...body.slice(isNegative ? 1 : 0).matchAll(/(.)(?:-(.))?/gsu)].map(
    ([, from, to]): Range => [codeOf(from!), Math.max(codeOf(from!), codeOf(to ?? from!))],
  )
  const isIn = inRanges(merged(ranges))
  return (one) => isIn(codeOf(one)) !== isNegative
}

function codeOf(character: string): number {
  return character.codePointAt(0)!
}

/** In order, with gaps in between. */
function merged(ranges: Range[]): Range[] {
  const whole: Range[] = []
  for (const [from, to] of ranges.sort(([a], [b]) => a - b)) {
    const last = whole.at(-1)
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else whole.push([from, to])
  }
  return whole
}

function inRanges(ranges: Range[]): (code: number) => boolean {
  return (code) => {
    let [low, high] = [0, ranges.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (ranges[middle]![1] < code) low = middle + 1
      else high = middle
    }
    return low < ranges.length && ranges[low]![0] <= code
  }
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
