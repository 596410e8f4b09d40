// Where in SQL a block comment and a dollar-quoted string end.
import { isWordByte } from './sql-words.ts'

const [dollar, star, slash] = [0x24, 0x2a, 0x2f]
const lineFeed = 10
const tagLimit = 200

/** Comments nest. */
export class BlockComment {
  private depth = 1
  private previous = 0

  /** Whether it ends with this byte. */
  read(byte: number): boolean {
    const { previous } = this
    this.previous = byte
    if (byte === slash && previous === star) this.depth--
    else if (byte === star && previous === slash) this.depth++
    else return false
    this.previous = 0
    return this.depth === 0
  }
}

/** `$tag$ … $tag$`, from its first dollar on. */
export class DollarQuote {
  /** The part that has been read. */
  text = '$'
  private matched = 0

  /** Reads the first tag; `no` if it is not a tag. */
  open(byte: number): 'yes' | 'no' | 'not yet' {
    const isDigit = byte >= 0x30 && byte <= 0x39
    const isPart = isWordByte(byte) && !(isDigit && this.text === '$') && this.text.length < tagLimit
    if (byte !== dollar && !isPart) return 'no'
    this.text += String.fromCharCode(byte)
    return byte === dollar ? 'yes' : 'not yet'
  }

  /** Whether a part of the closing tag has been read. */
  get isClosing(): boolean {
    return this.matched > 0
  }

  /** Whether it ends with this byte. */
  read(byte: number): boolean {
    const isNext = byte === this.text.charCodeAt(this.matched)
    this.matched = isNext ? this.matched + 1 : byte === dollar ? 1 : 0
    return this.matched === this.text.length
  }
}

export function countLines(text: Buffer): number {
  let count = 0
  for (let at = text.indexOf(lineFeed); at >= 0; at = text.indexOf(lineFeed, at + 1)) count++
  return count
}
