// Splits an SQL file into statements as psql does, chunk by chunk, and passes on the input of psql. Line
// breaks are always kept, so psql's line numbers are correct. If psql's reading would depend on its version
// or on a setting, the file is refused.
import { messageOf } from '../../errors.ts'
import { CopyData } from './sql-copy.ts'
import { BlockComment, countLines, DollarQuote } from './sql-delimiters.ts'
import { DumpMarks, PsqlCommand, unsupported } from './sql-marks.ts'
import { SqlOutput } from './sql-output.ts'
import { mayBeDropped, verdictOf } from './sql-statement.ts'
import { isBlank, SqlWords } from './sql-words.ts'

type Mode = 'sql' | 'line comment' | 'block comment' | 'tag' | 'command' | 'after copy' | 'copy' | Quoted
type Quoted = 'string' | 'escape string' | 'identifier' | 'dollar string'

const [lineFeed, carriageReturn] = [10, 13]
const [doubleQuote, dollar, quote, star, dash, slash] = [0x22, 0x24, 0x27, 0x2a, 0x2d, 0x2f]
const [semicolon, backslash] = [0x3b, 0x5c]

export class SqlLexer {
  private line = 1
  private startLine = 1
  private readonly marks = new DumpMarks()
  private mode: Mode = 'sql'
  private words = new SqlWords()
  private copy = new CopyData()
  private comment = new BlockComment()
  private dollarQuote = new DollarQuote()
  private readonly command = new PsqlCommand()
  private previous = 0
  /** The last token is a string with escapes: a string directly after it would have escapes too. */
  private followsEscapes = false
  private isLineStart = true
  private readonly outflow = new SqlOutput()
  private piece: Buffer = Buffer.alloc(0)

  /** Returns what is passed to psql. Throws `unsupported_dump` with the line. */
  push(piece: Buffer): Buffer[] {
    this.piece = piece
    this.outflow.take(piece)
    this.naming(() => {
      if (piece.includes(0)) throw new Error('it contains a NUL byte, which SQL does not allow')
      for (let at = 0; at < piece.length; ) {
        if (this.mode === 'copy') at = this.skipCopy(at)
        else if (this.mode === 'string' || this.mode === 'dollar string') at = this.skipQuoted(at)
        else at = this.step(at)
      }
    })
    if (this.mode === 'command') this.outflow.skip(piece.length)
    return this.outflow.finish(!this.words.isEmpty)
  }

  /** Throws `unsupported_dump` for a truncated file. */
  end(): void {
    this.naming(() => {
      if (this.mode === 'command') this.endCommand()
      if (this.mode === 'line comment') this.marks.note()
    })
    const isQuiet = this.mode === 'sql' || this.mode === 'line comment'
    if (this.mode === 'after copy' || (this.mode === 'copy' && !this.copy.isAtEnd))
      throw unsupported(`it is truncated: the COPY data does not end (line ${this.line})`)
    if (this.mode !== 'copy' && !(isQuiet && this.words.isEmpty))
      throw unsupported(`it is truncated: the last statement does not end (line ${this.line})`)
    if (this.marks.isCut)
      throw unsupported('it is truncated: the line "PostgreSQL database dump complete" of pg_dump is missing')
  }

  private naming(work: () => void): void {
    try {
      work()
    } catch (error) {
      throw unsupported(`line ${this.line}: ${messageOf(error)}`)
    }
  }

  private skipCopy(at: number): number {
    const { next, lines, hasEnded: isOver } = this.copy.skip(this.piece, at)
    this.line += lines
    if (isOver) this.begin('sql')
    return next
  }

  /** Skips bytes that cannot end the current token, which makes reading data much faster. */
  private skipQuoted(at: number): number {
    const isClosing = this.mode === 'dollar string' && this.dollarQuote.isClosing
    if (isClosing || this.words.first === 'set') return this.step(at)
    const quoteIndex = this.piece.indexOf(this.mode === 'string' ? quote : dollar, at)
    const end = quoteIndex < 0 ? this.piece.length : quoteIndex
    this.line += countLines(this.piece.subarray(at, end))
    return quoteIndex < 0 ? end : this.step(end)
  }

  private begin(mode: Mode): void {
    this.mode = mode
    this.words = new SqlWords()
    this.copy = new CopyData()
    this.outflow.isHolding = true
    this.previous = 0
    this.followsEscapes = false
    this.isLineStart = mode === 'sql' && this.isLineStart
  }

  private step(at: number): number {
    const byte = this.piece[at]!
    if (this.mode === 'sql') this.readSql(byte, at)
    else if (this.mode === 'line comment') this.readComment(byte)
    else if (this.mode === 'block comment') this.endIf(this.comment.read(byte))
    else if (this.mode === 'tag') return this.readTag(byte) ? at + 1 : at
    else if (this.mode === 'dollar string') this.endIf(this.dollarQuote.read(byte))
    else if (this.mode === 'command') this.readCommand(byte, at)
    else if (this.mode === 'after copy') this.readAfterCopy(byte)
    else this.readQuoted(byte)
    if (byte === lineFeed) {
      this.line++
      this.isLineStart = true
    }
    return at + 1
  }

  private readSql(byte: number, at: number): void {
    const { previous, words } = this
    if (words.isEmpty && !isBlank(byte)) {
      this.outflow.send(at)
      this.startLine = this.line
    }
    this.previous = byte
    if (byte === backslash) this.beginCommand(at)
    else if (byte === dash && previous === dash) this.beginComment('line comment')
    else if (byte === star && previous === slash) this.beginComment('block comment')
    else if (byte === quote) this.beginString(previous)
    else if (byte === doubleQuote) this.beginQuoted('identifier', byte)
    else if (byte === dollar && words.token === '') this.beginTag()
    else this.readPlain(byte, at)
  }

  private readPlain(byte: number, at: number): void {
    const { words } = this
    if (!isBlank(byte)) {
      this.isLineStart = false
      if (byte !== dash && byte !== slash) this.followsEscapes = false
    }
    if (byte === semicolon) words.endWord()
    if (byte === semicolon && words.isWhole) this.endStatement(at + 1)
    else {
      words.add(byte)
      if (words.first !== null && !mayBeDropped(words.first)) this.outflow.isHolding = false
    }
  }

  private endStatement(next: number): void {
    const { first, isTooLong } = this.words
    if (first === 'copy' && isTooLong) throw new Error('the COPY statement is too long')
    // A refusal names the first line of the statement.
    const { line } = this
    this.line = this.startLine
    const verdict = verdictOf(this.words.toString())
    this.line = line
    if (verdict === 'drop') this.outflow.drop(next)
    else this.outflow.send(next)
    this.begin(verdict === 'copy' ? 'after copy' : 'sql')
  }

  private beginComment(mode: 'line comment' | 'block comment'): void {
    this.words.undo()
    this.mode = mode
    this.comment = new BlockComment()
    this.previous = 0
  }

  private readComment(byte: number): void {
    if (byte === lineFeed || byte === carriageReturn) {
      this.marks.note()
      this.mode = 'sql'
    } else this.marks.comment.add(byte)
  }

  private beginString(previous: number): void {
    const isSame = this.followsEscapes && previous === quote
    if (this.followsEscapes && !isSame) throw new Error("a string E'…' continues in a second one")
    this.beginQuoted(isSame || this.words.token === 'e' ? 'escape string' : 'string', quote)
  }

  private beginQuoted(mode: Quoted, byte: number): void {
    this.mode = mode
    this.isLineStart = false
    this.words.addQuote(byte)
    this.followsEscapes = false
    this.previous = 0
    if (!mayBeDropped(this.words.first ?? '')) this.outflow.isHolding = false
  }

  private readQuoted(byte: number): void {
    const isEscaped = this.mode === 'escape string' && this.previous === backslash
    this.previous = isEscaped ? 0 : byte
    if (isEscaped) return
    if (byte !== (this.mode === 'identifier' ? doubleQuote : quote)) this.words.addQuoted(byte)
    else {
      this.followsEscapes = this.mode === 'escape string'
      this.words.addQuote(byte)
      this.mode = 'sql'
    }
  }

  private beginTag(): void {
    this.mode = 'tag'
    this.dollarQuote = new DollarQuote()
  }

  /** Returns whether the byte was consumed. */
  private readTag(byte: number): boolean {
    const verdict = this.dollarQuote.open(byte)
    if (verdict === 'yes') this.beginQuoted('dollar string', quote)
    if (verdict !== 'no') return true
    this.mode = 'sql'
    for (const letter of Buffer.from(this.dollarQuote.text, 'latin1')) this.words.add(letter)
    return false
  }

  private endIf(hasEnded: boolean): void {
    if (hasEnded) this.mode = 'sql'
  }

  private readAfterCopy(byte: number): void {
    if (byte === lineFeed) this.mode = 'copy'
    else if (!isBlank(byte)) throw new Error('the COPY line continues after its semicolon')
  }

  private beginCommand(at: number): void {
    this.mode = 'command'
    if (!this.isLineStart || !this.words.isEmpty)
      throw new Error('a backslash outside quotes is a psql command')
    this.outflow.send(at)
    this.command.line.add(backslash)
  }

  private readCommand(byte: number, at: number): void {
    if (byte === lineFeed) {
      this.endCommand()
      this.outflow.skip(at)
    } else this.command.line.add(byte)
  }

  private endCommand(): void {
    this.command.requireAllowed()
    this.begin('sql')
  }
}
