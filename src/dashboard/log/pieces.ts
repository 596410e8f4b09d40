// A line as it is drawn: rows of pieces with one look each. Its styles, addresses and matches overlap freely.
import { toSpans } from './ansi.ts'
import type { Matcher } from './find.ts'
import { cutsOf } from './rows.ts'

export interface Piece {
  text: string
  style: string
  href?: string
  isMatch: boolean
}

interface Range {
  start: number
  end: number
}

/** More than that in one line is not for people. */
const maxRanges = 200
const address = /https?:\/\/[^\s<>"'`\u2400-\u2421]+/g
const punctuation = /[.,;:!?)\]}]$/

/** `columns` is infinite for a line that is not wrapped. Only the first `limit` rows are made. */
export function toRows(
  text: string,
  { columns, limit, matcher }: { columns: number; limit: number; matcher: Matcher | null },
): Piece[][] {
  const spans = toSpans(text)
  const plain = spans.map((span) => span.text).join('')
  const cuts = Number.isFinite(columns) ? cutsOf(plain, columns, limit) : [0, plain.length]
  const links = addressesIn(plain)
  const matches = matcher?.rangesIn(plain, maxRanges) ?? []
  const styles: (Range & { style: string })[] = []
  for (const span of spans) {
    const start = styles.at(-1)?.end ?? 0
    styles.push({ start, end: start + span.text.length, style: span.style })
  }
  const bounds = [styles, links, matches].flatMap((ranges) =>
    ranges.flatMap(({ start, end }) => [start, end]),
  )
  const offsets = [...new Set([...bounds, ...cuts])].sort((a, b) => a - b)

  const [style, link, match] = [cursorOf(styles), cursorOf(links), cursorOf(matches)]
  const rows: Piece[][] = cuts.slice(0, -1).map(() => [])
  let row = 0
  for (const [index, start] of offsets.entries()) {
    const end = offsets[index + 1]
    if (end === undefined || start >= cuts.at(-1)!) break
    while (start >= cuts[row + 1]!) row++
    const range = link(start)
    const href = range && { href: plain.slice(range.start, range.end) }
    const piece = { text: plain.slice(start, end), style: style(start)?.style ?? '', ...href }
    rows[row]!.push({ ...piece, isMatch: match(start) !== undefined })
  }
  return rows
}

/** Returns the range that contains an offset. The offsets of its calls rise. */
function cursorOf<Of extends Range>(ranges: Of[]): (offset: number) => Of | undefined {
  let index = 0
  return (offset) => {
    while (index < ranges.length && ranges[index]!.end <= offset) index++
    const range = ranges[index]
    return range && range.start <= offset ? range : undefined
  }
}

function addressesIn(text: string): Range[] {
  const ranges: Range[] = []
  if (!text.includes('://')) return ranges
  for (const { 0: found, index: start } of text.matchAll(address)) {
    let { length } = found
    while (punctuation.test(found.slice(length - 1, length))) length--
    ranges.push({ start, end: start + length })
    if (ranges.length >= maxRanges) break
  }
  return ranges
}
