// How many rows of the screen a line takes, and where it is cut: computed from its text and never measured,
// so that nothing jumps. A character takes 0, 1 or 2 columns.

export const rowPx = 20
/** A longer line is cut until its reader wants more. */
export const maxRows = 20

const isNarrow = /^[\x20-\u02ff]*$/
const isWide =
  /\p{sc=Han}|\p{sc=Hangul}|\p{sc=Hira}|\p{sc=Kana}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\p{EPres}/u
const isWithoutWidth = /[\p{M}\p{Cf}]/u

export function cellsOf(text: string): number {
  if (isNarrow.test(text)) return text.length
  let cells = 0
  for (const letter of text) cells += widthOf(letter)
  return cells
}

function widthOf(letter: string): number {
  if (letter < '\u0300') return 1
  if (isWithoutWidth.test(letter)) return 0
  return isWide.test(letter) ? 2 : 1
}

export function rowsOf(cells: number, columns: number): number {
  return Math.max(1, Math.ceil(cells / columns))
}

/** The rows that are shown: the last may be a button. */
export function shownRows(cells: number, columns: number, isWhole: boolean): number {
  const rows = rowsOf(cells, columns)
  return isWhole || rows <= maxRows ? rows : maxRows + 1
}

/** Where each row begins in the text, and the end of the last one. */
export function cutsOf(text: string, columns: number, limit = Number.POSITIVE_INFINITY): number[] {
  const cuts = [0]
  if (isNarrow.test(text)) {
    for (let at = columns; at < text.length && cuts.length < limit; at += columns) cuts.push(at)
    const last = cuts.at(-1)!
    return [...cuts, Math.min(text.length, last + columns)]
  }
  let cells = 0
  let offset = 0
  for (const letter of text) {
    const width = widthOf(letter)
    if (width > 0 && cells >= cuts.length * columns) {
      if (cuts.length >= limit) return [...cuts, offset]
      cuts.push(offset)
    }
    cells += width
    offset += letter.length
  }
  return [...cuts, offset]
}
