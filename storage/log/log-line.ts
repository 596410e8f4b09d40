// A log line, and how it is stored: a JSON array that begins with its number, `[7,"<ts>","stdout","text"]`,
// with an object behind the text where more is known of the line. The number is stored, not implied by the
// place: the end of a file is enough to go on counting from, and missing lines show as a jump wherever they
// are.

export type LogStream = 'stdout' | 'stderr' | 'system' | 'access'

/** What else is known of a line: plain JSON. */
export type LogAbout = Readonly<Record<string, unknown>>

export interface LogLine {
  /** RFC 3339, UTC, milliseconds, `Z`. */
  ts: string
  stream: LogStream
  line: string
  about?: LogAbout
}

/** Lines numbered `first`, `first + 1`, … */
export interface Batch {
  first: number
  lines: LogLine[]
}

/** What one stored line holds; `line` is null for the mark that ends a log, which repeats the last number. */
export interface StoredLine {
  number: number
  line: LogLine | null
}

const maxLineBytes = 16 * 1024
const digitZero = 48

export function lastNumberOf(batch: Batch): number {
  return batch.first + batch.lines.length - 1
}

export function encodeLine(number: number, { ts, stream, line, about }: LogLine): string {
  const stored = about === undefined ? [number, ts, stream, line] : [number, ts, stream, line, about]
  return `${JSON.stringify(stored)}\n`
}

export function encodeEnd(lastNumber: number): string {
  return `${JSON.stringify([lastNumber, 'end'])}\n`
}

/** One stored line, without its newline; null when it is damaged. */
export function decodeLine(bytes: Buffer, start: number, end: number): StoredLine | null {
  try {
    return toStoredLine(JSON.parse(bytes.toString('utf8', start, end)))
  } catch {
    return null
  }
}

function toStoredLine(value: unknown): StoredLine | null {
  if (!Array.isArray(value)) return null
  const [number, ts, stream, line, about] = value
  if (!Number.isSafeInteger(number)) return null
  if (value.length === 2 && ts === 'end') return { number, line: null }
  if (typeof ts !== 'string' || !isStream(stream) || typeof line !== 'string') return null
  if (value.length === 4) return { number, line: { ts, stream, line } }
  return value.length === 5 && isAbout(about) ? { number, line: { ts, stream, line, about } } : null
}

function isAbout(value: unknown): value is LogAbout {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isStream(value: unknown): value is LogStream {
  return value === 'stdout' || value === 'stderr' || value === 'system' || value === 'access'
}

/** The number of a stored line without decoding it; -1 when it does not begin with one. */
export function numberAt(bytes: Buffer, start: number): number {
  let number = -1
  for (let at = start + 1; at < bytes.length; at++) {
    const digit = (bytes[at] ?? 0) - digitZero
    if (digit < 0 || digit > 9) break
    number = Math.max(number, 0) * 10 + digit
  }
  return number
}

/** The line that stands where lines `first` to `last` are missing. */
export function missingLine(first: number, last: number, ts: string): LogLine {
  const count = last - first + 1
  return {
    ts,
    stream: 'system',
    line: count === 1 ? '1 line is missing here' : `${count} lines are missing here`,
  }
}

/** A line in pieces of at most 16 KiB of UTF-8, never cut inside a character. */
export function splitLine(line: string): string[] {
  if (line.length * 3 <= maxLineBytes || Buffer.byteLength(line) <= maxLineBytes) return [line]
  const bytes = Buffer.from(line)
  const pieces: string[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = characterStart(bytes, start + maxLineBytes)
    pieces.push(bytes.toString('utf8', start, end))
    start = end
  }
  return pieces
}

function characterStart(bytes: Buffer, at: number): number {
  while (((bytes[at] ?? 0) & 0xc0) === 0x80) at--
  return at
}
