// A file of plain SQL: its format, and its way through psql. It runs as a role that owns the new database and
// has no other rights. The role's only connection is in use, so `\connect` reaches no other database.
import { randomBytes } from 'node:crypto'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type DumpFormat, formatOf, headBytes } from '../../domain/backup-files.ts'
import type { Credentials } from '../../domain/datastore-urls.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { findToolError, runTool } from '../backup/backup.ts'
import { maskPassword } from '../datastore/access.ts'
import { postgresEnv } from '../datastore/kind.ts'
import { openRestoreFile, type RestoreStep, readRestoreFile } from './step.ts'

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])
const maxMessageChars = 300

/** Since 13.22, 14.19, 15.14, 16.10 and 17.6 psql has a mode that refuses all commands with a backslash. */
const psqlScript = `if psql --help=commands | grep -q '[\\]restrict'
then exec psql "$@" -c '\\restrict '"$BERTH_KEY" -f -
else exec psql "$@" -f -
fi`

/** Throws `unsupported_dump`. */
export async function formatOfFile({ ports, input, signal }: RestoreStep): Promise<DumpFormat> {
  let head = Buffer.alloc(0)
  for await (const piece of (await openRestoreFile(ports, input, signal)).content) {
    head = Buffer.concat([head, piece]).subarray(0, headBytes)
    if (head.length === headBytes) break
  }
  return formatOfHead(head)
}

function formatOfHead(head: Buffer): DumpFormat {
  const format = formatOf(head)
  if (typeof format === 'string') return format
  throw unsupported(`the file ${format.message}`)
}

/** The input of psql. Throws `unsupported_dump`. */
export async function* readSql(step: RestoreStep): AsyncGenerator<Uint8Array> {
  const isPacked = (await formatOfFile(step)) === 'gzip'
  const content = readRestoreFile(step)
  const filter = new SqlFilter()
  let isFirst = true
  for await (const piece of isPacked ? unpack(content) : content) {
    yield filter.push(isFirst ? startOfSql(Buffer.from(piece)) : piece)
    isFirst = false
  }
  yield filter.end()
}

async function* unpack(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip()
  pipeline(packed, gunzip, () => undefined)
  try {
    yield* gunzip as AsyncIterable<Buffer>
  } catch (error) {
    if (!codeOf(error).startsWith('Z_')) throw error
    throw unsupported(`it is truncated or changed: ${messageOf(error)}`)
  }
}

/** Returns the first piece without a byte order mark. */
function startOfSql(piece: Buffer): Buffer {
  if (formatOfHead(piece.subarray(0, headBytes)) !== 'sql')
    throw unsupported('a gzip file has to hold plain SQL: unpack it first')
  const hasMark = piece.subarray(0, byteOrderMark.length).equals(byteOrderMark)
  return hasMark ? piece.subarray(byteOrderMark.length) : piece
}

/**
 * Loads the file as that role. Throws `restore_failed` with the line. psql also succeeds when its input is
 * truncated on the way: the last line that we send proves that psql received all of it, and that no
 * transaction is open.
 */
export async function loadSql(step: RestoreStep, role: Credentials): Promise<void> {
  const { ports, datastore, input, signal } = step
  const key = randomBytes(16).toString('hex')
  const argv = ['sh', '-c', psqlScript, 'sh', '-XAtq', '-v', 'ON_ERROR_STOP=1']
  const env = { ...postgresEnv(role), BERTH_KEY: key, PGCLIENTENCODING: 'UTF8' }
  let lastOutput: Buffer = Buffer.alloc(0)
  const output = async (piece: Uint8Array) => {
    lastOutput = Buffer.concat([lastOutput, piece]).subarray(-100)
  }
  const command = { argv, env }
  const sql = withProof(readSql(step), key)
  const run = { id: input.id, command, sharesNetwork: true, input: sql, output }
  const outcome = await runTool(ports, datastore, run, signal)
  const psqlError = /^psql:<stdin>:(\d+): (?:ERROR|FATAL|PANIC|error): +(.*)$/m.exec(outcome.stderr)
  if (outcome.exitCode !== 0 && psqlError) {
    const message = maskPassword(`line ${psqlError[1]}: ${psqlError[2]}`, datastore.credentials)
    throw new Failure('restore_failed', message.slice(0, maxMessageChars))
  }
  const complaint = findToolError(outcome, datastore)
  if (complaint !== null) throw new Failure('restore_failed', complaint)
  const proof = lastOutput.toString('latin1')
  if (proof.endsWith(`${key} open\n`))
    throw unsupported('its last transaction does not end: COMMIT is missing')
  if (!proof.endsWith(`${key} done\n`)) throw new Failure('docker_error', 'psql did not get all of the file')
}

/** In a transaction of its own, a statement starts at the same time as its transaction. */
async function* withProof(sql: AsyncIterable<Uint8Array>, key: string): AsyncGenerator<Uint8Array> {
  yield* sql
  const end = "case when now() = statement_timestamp() then 'done' else 'open' end"
  yield Buffer.from(`\nselect '${key} ' || ${end};\n`)
}

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

/**
 * Leaves lines out of a plain SQL dump: owners and grants, which name roles that need not exist here, and
 * what older versions of psql and Postgres do not know. A line is left out only where a statement begins,
 * never inside quotes, comments or the data of COPY. Its line break stays: psql counts the same lines.
 */
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

function unsupported(message: string): Failure {
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
