// Finds a text in all lines that are in memory, a slice at a time: a page that searches stays responsive.
import { plainText } from './ansi.ts'
import { indexAtOrBefore, type Line } from './lines.ts'

export interface Matcher {
  countIn(text: string): number
  rangesIn(text: string, limit: number): { start: number; end: number }[]
}

/** Letters match in both cases. Null for an empty query. */
export function createMatcher(query: string): Matcher | null {
  if (query === '') return null
  const pattern = new RegExp(query.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'giu')
  return {
    countIn(text) {
      pattern.lastIndex = 0
      let count = 0
      while (pattern.test(text)) count++
      return count
    },
    rangesIn(text, limit) {
      const ranges: { start: number; end: number }[] = []
      for (const { 0: found, index: start } of text.matchAll(pattern)) {
        ranges.push({ start, end: start + found.length })
        if (ranges.length >= limit) break
      }
      return ranges
    },
  }
}

/** A line with matches. */
export interface Hit {
  number: number
  /** The matches up to the end of this line. */
  upTo: number
}

const sliceLines = 1_000

/** The hits in lines that are added over time. */
export class Search {
  readonly hits: Hit[] = []
  readonly #matcher: Matcher
  readonly #isShown: (line: Line) => boolean
  #last = 0

  constructor(matcher: Matcher, isShown: (line: Line) => boolean) {
    this.#matcher = matcher
    this.#isShown = isShown
  }

  get count(): number {
    return this.hits.at(-1)?.upTo ?? 0
  }

  hasNext(lines: readonly Line[]): boolean {
    return (lines.at(-1)?.number ?? 0) > this.#last
  }

  /** Searches the next lines. False if there are none left. */
  advance(lines: readonly Line[]): boolean {
    const begin = indexAtOrBefore(lines, this.#last) + 1
    for (const line of lines.slice(begin, begin + sliceLines)) this.#look(line)
    return this.hasNext(lines)
  }

  /** The hit that contains a match; matches count from 0. */
  hitOf(match: number): Hit | undefined {
    let [low, high] = [0, this.hits.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.hits[middle]!.upTo > match) high = middle
      else low = middle + 1
    }
    return this.hits[low]
  }

  /** The first match at or after a line; the first of all if no match follows. */
  firstFrom(number: number): number {
    const before = indexAtOrBefore(this.hits, number - 1)
    const upTo = this.hits[before]?.upTo ?? 0
    return upTo < this.count ? upTo : 0
  }

  #look(line: Line): void {
    this.#last = line.number
    if (!this.#isShown(line)) return
    const found = this.#matcher.countIn(plainText(line.text))
    if (found > 0) this.hits.push({ number: line.number, upTo: this.count + found })
  }
}
