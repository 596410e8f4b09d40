// Tables without borders, and lists of facts. Cells are escaped here: the text may be the server's.
import stringWidth from 'string-width'
import type { Output, Style } from './output.ts'
import { plain } from './output.ts'
import { clip } from './phase-line.ts'

export interface Column<Row> {
  heading: string
  text(row: Row): string
  style?: (row: Row) => Style | null
  /** May be cut if the terminal is too narrow. At most one column. */
  isFlexible?: boolean
  /** Cuts the start instead, because ids differ at their end. */
  keepsEnd?: boolean
  isRight?: boolean
}

const gap = 2
const minColumns = 6

/** Prints one line per row below dim headings. At a terminal, lines are cut to its width. */
export function printTable<Row>(out: Output, rows: Row[], columns: Column<Row>[]): void {
  for (const line of tableLines(out, rows, columns)) out.print(line)
}

/** Prints the rows as JSON or as a table; without rows the notice. */
export function printList<Row>(out: Output, rows: Row[], notice: string, columns: Column<Row>[]): void {
  if (out.isJson) out.json(rows)
  else if (rows.length === 0) out.say(notice)
  else printTable(out, rows, columns)
}

export function tableLines<Row>(out: Output, rows: Row[], columns: Column<Row>[]): string[] {
  const texts = rows.map((row) => columns.map(({ text }) => plain(text(row))))
  const widthOf = ({ heading }: Column<Row>, place: number) =>
    Math.max(...[heading, ...texts.map((cells) => cells[place]!)].map((text) => stringWidth(text)))
  const widths = columns.map(widthOf)
  const flexible = columns.findIndex(({ isFlexible }) => isFlexible)
  const surplus = widths.reduce((sum, width) => sum + width + gap, -gap) - out.width()
  if (out.isTerminal && surplus > 0 && flexible !== -1) {
    const room = Math.max(minColumns, widths[flexible]! - surplus)
    for (const cells of texts) cells[flexible] = clip(cells[flexible]!, room, columns[flexible]!.keepsEnd)
    widths[flexible] = widthOf(columns[flexible]!, flexible)
  }
  const toLine = (cells: string[], styleOf: (column: Column<Row>) => Style | null | undefined) =>
    cells
      .map((text, place) => {
        const column = columns[place]!
        const style = styleOf(column)
        const padding = ' '.repeat(widths[place]! - stringWidth(text))
        const painted = style ? out.paint(style, text) : text
        return column.isRight ? padding + painted : painted + padding
      })
      .join(' '.repeat(gap))
      .trimEnd()
  return [
    toLine(
      columns.map(({ heading }) => heading),
      () => 'dim',
    ),
    ...rows.map((row, index) => toLine(texts[index]!, ({ style }) => style?.(row))),
  ]
}

export type Fact = [label: string, value: string | null | undefined, style?: Style | null]

/** Prints one line per label and value; labels without a value are omitted. */
export function printFacts(out: Output, facts: Fact[]): void {
  const reported = facts.filter(([, value]) => value !== null && value !== undefined && value !== '')
  const columns = Math.max(...reported.map(([label]) => label.length)) + gap
  for (const [label, value, style] of reported) {
    const text = plain(value!)
    out.print(`${out.paint('dim', label.padEnd(columns))}${style ? out.paint(style, text) : text}`)
  }
}
