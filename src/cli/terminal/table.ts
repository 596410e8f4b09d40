// Results for people: tables without borders, and lists of facts.
// Mind: cells are cleaned here, so a command may hand over what the server sent.
import stringWidth from 'string-width'
import { clip } from './clip.ts'
import type { Output, Style } from './output.ts'
import { plain } from './output.ts'

export interface Column<Row> {
  heading: string
  text(row: Row): string
  style?: (row: Row) => Style | null
  /** May be cut when the terminal is too narrow. One column at most. */
  isFlexible?: boolean
  /** Then its beginning is cut: ids differ at their end. */
  keepsEnd?: boolean
  isRight?: boolean
}

const gap = 2
const leastColumns = 6
const noBorders = Object.fromEntries(
  [
    ...['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'],
    ...['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'],
  ].map((name) => [name, '']),
)

/** Prints a row a line below dim headings. On a terminal no line is longer than it is wide. */
export async function printTable<Row>(out: Output, rows: Row[], columns: Column<Row>[]): Promise<void> {
  for (const line of await tableLines(out, rows, columns)) out.print(line)
}

/** The same as lines, for what is drawn again and again. */
export async function tableLines<Row>(out: Output, rows: Row[], columns: Column<Row>[]): Promise<string[]> {
  const { default: Table } = await import('cli-table3')
  const texts = rows.map((row) => columns.map(({ text }) => plain(text(row))))
  const widths = columns.map(({ heading }, place) =>
    Math.max(...[heading, ...texts.map((cells) => cells[place]!)].map((text) => stringWidth(text))),
  )
  const flexible = columns.findIndex(({ isFlexible }) => isFlexible)
  const surplus = widths.reduce((sum, width) => sum + width + gap, -gap) - out.width()
  const isCut = out.isTerminal && surplus > 0 && flexible !== -1
  const room = isCut ? Math.max(leastColumns, widths[flexible]! - surplus) : Number.POSITIVE_INFINITY
  const table = new Table({
    chars: noBorders,
    style: { 'padding-left': 0, 'padding-right': gap, head: [], border: [], compact: true },
    head: columns.map(({ heading }) => out.paint('dim', heading)),
    colAligns: columns.map(({ isRight }) => (isRight ? 'right' : 'left')),
  })
  const toCell = (row: Row, text: string, place: number) => {
    const { style, keepsEnd } = columns[place]!
    const cut = place === flexible ? clip(text, room, keepsEnd) : text
    const paint = style?.(row)
    return paint ? out.paint(paint, cut) : cut
  }
  for (const [index, row] of rows.entries()) {
    table.push(texts[index]!.map((text, place) => toCell(row, text, place)))
  }
  const lines = table.toString().split('\n')
  return lines.map((line) => line.trimEnd())
}

export type Fact = [label: string, value: string | null | undefined, style?: Style | null]

/** Prints a label and a value a line; what has no value is left out. */
export function printFacts(out: Output, facts: Fact[]): void {
  const told = facts.filter(([, value]) => value !== null && value !== undefined && value !== '')
  const columns = Math.max(...told.map(([label]) => label.length)) + gap
  for (const [label, value, style] of told) {
    const said = plain(value!)
    out.print(`${out.paint('dim', label.padEnd(columns))}${style ? out.paint(style, said) : said}`)
  }
}
