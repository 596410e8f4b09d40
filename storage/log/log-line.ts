// A log line and its stored form: a JSON array that begins with its number, `[7,"<ts>","stdout","text"]`,
// optionally with an object of further fields at the end. The number is stored, not implied by the position:
// the end of a file is enough to continue counting, and missing lines show as a jump in the numbers.

export type LogStream = 'stdout' | 'stderr' | 'system' | 'access'

/** Further fields of a line: plain JSON. */
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

/** The lines of a batch as they are written, as a whole. */
export interface Chunk {
  batch: Batch
  data: Buffer
}

/** One stored line. `line` is null for the end mark of a log, which repeats the last number. */
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

/** Decodes one stored line, without its newline. Null for a damaged line. */
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

/** The number of a stored line, without decoding the line; -1 for a line without a number. */
export function numberAt(bytes: Buffer, start: number): number {
  let number = -1
  for (let at = start + 1; at < bytes.length; at++) {
    const digit = (bytes[at] ?? 0) - digitZero
    if (digit < 0 || digit > 9) break
    number = Math.max(number, 0) * 10 + digit
  }
  return number
}

export function missingLine(first: number, last: number, ts: string): LogLine {
  const count = last - first + 1
  return {
    ts,
    stream: 'system',
    line: count === 1 ? '1 line is missing here' : `${count} lines are missing here`,
  }
}

/** Splits a line into pieces of at most 16 KiB of UTF-8, never inside a character. */
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
