// The data after COPY … FROM stdin, up to the line `\.`.

const [lineFeed, carriageReturn] = [10, 13]
const end = Buffer.from('\\.')

export class CopyData {
  /** The number of characters of `\.` that the line has so far; -1 for a line of data. */
  private matched = 0

  /** Whether the last line is `\.`, also without a line break. */
  get isAtEnd(): boolean {
    return this.matched >= end.length
  }

  /** Skips to the end of the data or of the chunk. */
  skip(piece: Buffer, from: number): { next: number; lines: number; hasEnded: boolean } {
    let lines = 0
    for (let at = from; at < piece.length; at++) {
      if (this.matched < 0) {
        at = piece.indexOf(lineFeed, at)
        if (at < 0) break
      }
      const byte = piece[at]!
      if (byte === lineFeed) {
        lines++
        const isOver = this.isAtEnd
        this.matched = 0
        if (isOver) return { next: at + 1, lines, hasEnded: isOver }
      } else if (byte === end[this.matched] || (byte === carriageReturn && this.matched === end.length)) {
        this.matched++
      } else {
        this.matched = -1
      }
    }
    return { next: piece.length, lines, hasEnded: false }
  }
}
