// The words of one SQL statement that decide what it does: lower case, single spaces, no comments, empty
// quotes and parentheses. Parentheses and function bodies are counted as psql does.

/** A longer statement is judged by its beginning. */
const limit = 2000
const bodied = /^create (or replace )?(function|procedure)$/

const [space, dollar, dash, slash] = [0x20, 0x24, 0x2d, 0x2f]
const [open, close] = [0x28, 0x29]

export class SqlWords {
  /** The word that is being read. */
  word = ''
  /** Empty for a statement that does not start with a word; null while unknown. */
  first: string | null = null
  private text = ''
  private depth = 0
  private blocks = 0
  private isBodied = false

  get isEmpty(): boolean {
    return this.text === '' || this.text === ' '
  }

  get isTooLong(): boolean {
    return this.text.length > limit
  }

  /** The text directly before a quote or a dollar sign; empty at the start of a token. */
  get token(): string {
    if (/^[\d$]/.test(this.word)) throw new Error('a number runs into a string')
    return this.word
  }

  /** Whether a semicolon would end the statement. */
  get isWhole(): boolean {
    return this.depth === 0 && this.blocks === 0
  }

  toString(): string {
    return this.text.trim()
  }

  add(byte: number): void {
    if (!isWordByte(byte)) this.endWord()
    else if (this.word.length < limit) this.word += String.fromCharCode(byte).toLowerCase()
    if (byte === open && this.depth++ === 0) this.append('()')
    else if (byte === close) this.depth = Math.max(0, this.depth - 1)
    else if (this.depth === 0) this.append(String.fromCharCode(byte).toLowerCase())
    const isOther = !isWordByte(byte) && byte !== dash && byte !== slash && !isBlank(byte)
    if (isOther) this.first ??= ''
  }

  /** The first character of a comment was added as a word; the comment counts as white space. */
  undo(): void {
    if (this.depth === 0 && !this.isTooLong) this.text = this.text.slice(0, -1)
    this.add(space)
  }

  addQuote(byte: number): void {
    this.endWord()
    this.first ??= ''
    if (this.depth === 0) this.append(String.fromCharCode(byte))
  }

  /** Quoted text matters only in SET. */
  addQuoted(byte: number): void {
    if (this.depth === 0 && this.first === 'set') this.append(String.fromCharCode(byte).toLowerCase())
  }

  endWord(): void {
    const { word } = this
    if (word === '') return
    this.first ??= word
    this.word = ''
    if (this.first !== 'create' || this.depth > 0) return
    if (word === 'function' || word === 'procedure') this.isBodied ||= bodied.test(this.toString())
    if (!this.isBodied) return
    if (word === 'begin' || (word === 'case' && this.blocks > 0)) this.blocks++
    if (word === 'end') this.blocks = Math.max(0, this.blocks - 1)
  }

  private append(letters: string): void {
    const letter = isBlank(letters.charCodeAt(0)) ? ' ' : letters
    if (this.isTooLong || (letter === ' ' && (this.text === '' || this.text.endsWith(' ')))) return
    this.text += letter
  }
}

/** Whether the byte is a part of an identifier, a number or a parameter. */
export function isWordByte(byte: number): boolean {
  return (
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x5f ||
    byte === dollar ||
    byte >= 0x80
  )
}

export function isBlank(byte: number): boolean {
  return byte === space || (byte >= 9 && byte <= 13)
}
