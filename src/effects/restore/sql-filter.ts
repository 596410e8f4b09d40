// Leaves lines out of a plain SQL dump: owners and grants, which name roles that need not exist here, and
// what older versions of psql and Postgres do not know. Everything else passes unchanged. A line is left out
// only where a statement begins, never inside quotes, comments or the data of COPY. Its line break stays, so
// that psql counts the same lines.
import { Failure } from '../../errors.ts'

/** A longer line passes in parts, and is never left out. */
const maxLineChars = 256 * 1024
const copyEnd = /^\\\.\r?\n?$/
/** What begins a string with escapes, a string, a name, a comment, or a dollar-quoted string. */
const quoteMarks = /(?<![\w$\x80-\xff])(?:e'|\$(?:[a-z_\x80-\xff][\w\x80-\xff]*)?\$)|'|"|--|\/\*/gi
const omittedCommand = /^\\(un)?restrict\s/
const omittedStatements = [
  /^(grant|revoke|alter default privileges|comment on extension)\s/i,
  /^alter\s.*\sowner to\s+[^\s,]*;$/i,
  /^(re)?set session authorization\b/i,
  /^set transaction_timeout\b/i,
]

export class SqlFilter {
  /** The last line, as far as it has arrived. */
  private rest = ''
  /** Whether a part of this line has passed already. */
  private isLongLine = false
  private isCopyData = false
  private isBetweenStatements = true
  /** What ends the open string, name or comment. */
  private closing: string | null = null
  private hasEscapes = false
  private dumpsBegun = 0
  private dumpsComplete = 0

  /** Returns the input of psql. */
  push(piece: Uint8Array): Buffer {
    if (piece.includes(0)) throw unsupported('it contains a NUL byte, which SQL does not allow')
    const text = Buffer.from(piece).toString('latin1')
    const passed: string[] = []
    let at = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
      passed.push(this.passLine(this.rest + text.slice(at, end + 1)))
      this.rest = ''
      at = end + 1
    }
    this.rest += text.slice(at)
    if (this.rest.length > maxLineChars) passed.push(this.passPart())
    return Buffer.from(passed.join(''), 'latin1')
  }

  /** Throws `unsupported_dump` if the file is truncated. psql detects a truncated statement. */
  end(): Buffer {
    const last = this.passLine(this.rest)
    if (this.isCopyData) throw unsupported('it is truncated: the data of COPY does not end')
    if (this.dumpsBegun > this.dumpsComplete)
      throw unsupported('it is truncated: the line "PostgreSQL database dump complete" of pg_dump is missing')
    return Buffer.from(last, 'latin1')
  }

  private passLine(line: string): string {
    const isWhole = !this.isLongLine
    this.isLongLine = false
    if (this.isCopyData) {
      if (isWhole && copyEnd.test(line)) this.isCopyData = false
      return line
    }
    const isStart = isWhole && this.isBetweenStatements && this.closing === null
    const statement = this.readStatement(line)
    if (!isStart) return line
    if (this.closing === null && isOmitted(line, statement)) {
      this.isBetweenStatements = true
      return '\n'
    }
    const comment = line.trimEnd()
    if (comment === '-- PostgreSQL database dump') this.dumpsBegun++
    if (comment === '-- PostgreSQL database dump complete') this.dumpsComplete++
    return line
  }

  /** Cuts the line where no mark can be cut. */
  private passPart(): string {
    const { rest } = this
    const end = Math.max(rest.lastIndexOf(' '), rest.lastIndexOf(',')) + 1 || rest.length
    this.rest = rest.slice(end)
    this.isLongLine = true
    const part = rest.slice(0, end)
    if (!this.isCopyData) this.readStatement(part)
    return part
  }

  /** Returns the text outside of quotes and comments, and notes what is open after it. */
  private readStatement(text: string): string {
    let statement = ''
    for (let at = 0; at < text.length; ) {
      if (this.closing !== null) at = this.skipQuoted(text, at, this.closing)
      else {
        quoteMarks.lastIndex = at
        const mark = quoteMarks.exec(text)
        statement += text.slice(at, mark?.index)
        if (mark === null || mark[0] === '--') break
        this.open(mark[0])
        at = mark.index + mark[0].length
      }
    }
    if (statement.trim() !== '') this.isBetweenStatements = statement.trimEnd().endsWith(';')
    const copyAt = statement.search(/\bfrom\s+stdin\b/i)
    if (copyAt >= 0 && statement.includes(';', copyAt)) this.isCopyData = true
    return statement
  }

  private open(mark: string): void {
    this.hasEscapes = mark.length === 2 && mark.endsWith("'")
    if (mark === '/*') this.closing = '*/'
    else this.closing = this.hasEscapes ? "'" : mark
  }

  private skipQuoted(text: string, from: number, closing: string): number {
    for (let at = text.indexOf(closing, from); at >= 0; at = text.indexOf(closing, at + 1)) {
      if (this.hasEscapes && isEscaped(text, from, at)) continue
      this.closing = null
      return at + closing.length
    }
    return text.length
  }
}

export function unsupported(message: string): Failure {
  return new Failure('unsupported_dump', message)
}

function isEscaped(text: string, from: number, at: number): boolean {
  let first = at
  while (first > from && text[first - 1] === '\\') first--
  return (at - first) % 2 === 1
}

/** Whether the line is one statement, or one command of psql, that is left out. */
function isOmitted(line: string, statement: string): boolean {
  if (omittedCommand.test(line)) return true
  const text = statement.trimEnd()
  if (text.indexOf(';') !== text.length - 1) return false
  return omittedStatements.some((pattern) => pattern.test(text))
}
