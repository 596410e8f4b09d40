// All files of one log, in their own directory: `<number of the first line>.jsonl`. The first files
// (head) and the last ones (tail) are retained. Where files were dropped the numbers jump, and readers
// get a line with the count of missing lines. It has the number of the last missing line, so a reader can
// resume at any number.
import * as fs from 'node:fs'
import { type FileHandle, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { StorageError } from '../store/errors.ts'
import {
  type Batch,
  type Chunk,
  decodeLine,
  type LogLine,
  lastNumberOf,
  missingLine,
  numberAt,
  type StoredLine,
} from './log-line.ts'

export interface FileLimits {
  /** 0 for a log that retains only its newest lines. */
  headBytes: number
  tailBytes: number
  segmentBytes: number
  /** Older lines are dropped, one file at a time. Undefined means no age limit. */
  maxAgeMs?: number | undefined
}

const namePattern = /^(\d{12})\.jsonl$/
const noteName = 'note.json'
/** A file spans at most 1/14 of the maximum age. Lines can outlive the maximum age by that much. */
const retentionParts = 14
/** Over all logs, so that many followers do not exhaust the descriptors of the process. */
const openFiles = pLimit(64)

export class LogFiles {
  readonly #directory: string
  readonly #limits: FileLimits
  readonly #segments: Segment[]
  #lastNumber: number
  /** Whether the log had ended when the files were opened. */
  readonly isEnded: boolean

  /** Opens the files of a log, if there are any. Cuts an incomplete write from the end of the last file. */
  constructor(directory: string, limits: FileLimits) {
    this.#directory = directory
    this.#limits = limits
    this.#segments = listSegments(directory)
    const last = repairLast(this.#segments)
    this.#lastNumber = last?.number ?? (this.#segments.at(-1)?.first ?? 1) - 1
    this.isEnded = last !== null && last.line === null
  }

  /** The number of the newest line in the files, 0 for none. */
  get lastNumber(): number {
    return this.#lastNumber
  }

  /** The lowest number that a line in the files can have. */
  get firstNumber(): number {
    return this.#segments[0]?.first ?? 1
  }

  /** Writes as many chunks as fit into one file, at least one, and returns how many. */
  async write(chunks: Chunk[]): Promise<number> {
    const [chunk] = chunks
    if (chunk === undefined) return 0
    const segment = await this.#segmentFor(chunk)
    const data = fittingData(chunks, this.#limits.segmentBytes - segment.sizeBytes)
    await withFile(segment.path, (file) => appendToSegment(file, segment, data))
    this.#lastNumber = lastNumberOf(chunks[data.length - 1]!.batch)
    return data.length
  }

  async sync(): Promise<void> {
    const current = this.#segments.at(-1)
    if (current !== undefined) await withFile(current.path, (file) => file.datasync())
  }

  /** At most 500 lines after `after`, none above `upTo`. */
  async readAfter(after: number, upTo: number): Promise<Batch | null> {
    const at = this.#segments.findLastIndex((segment) => segment.first <= after + 1)
    for (const segment of this.#segments.slice(Math.max(at, 0))) {
      const reading = withFile(segment.path, (file) => readSegment(file, segment, after, upTo))
      const batch = await reading.catch(nullIfMissing)
      if (batch !== null) return batch
    }
    return null
  }

  /** Drops files that are too old. True if no line is left; an empty file then keeps the next number. */
  async expire(): Promise<boolean> {
    const oldest = Date.now() - (this.#limits.maxAgeMs ?? Number.POSITIVE_INFINITY)
    const current = this.#segments.at(-1)
    const isAllOld = current !== undefined && current.sizeBytes > 0 && current.writtenAt < oldest
    if (isAllOld) this.#segments.push(await createSegment(this.#directory, this.#lastNumber + 1))
    await this.#drop(this.#segments.slice(0, -1).filter(({ writtenAt }) => writtenAt < oldest))
    return isAllOld
  }

  async writeNote(text: string): Promise<void> {
    const path = join(this.#directory, noteName)
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    await writeFile(`${path}.new`, text, { mode: 0o600 })
    await rename(`${path}.new`, path)
  }

  /** Null before the first `writeNote`. */
  async readNote(): Promise<string | null> {
    return readFile(join(this.#directory, noteName), 'utf8').catch(nullIfMissing)
  }

  async remove(): Promise<void> {
    this.#segments.length = 0
    await rm(this.#directory, { recursive: true, force: true })
  }

  async #segmentFor(chunk: Chunk): Promise<Segment> {
    const current = this.#segments.at(-1)
    if (current !== undefined && fits(current, chunk, this.#limits)) return current
    if (current === undefined) await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    await this.sync()
    const segment = await createSegment(this.#directory, chunk.batch.first)
    this.#segments.push(segment)
    await this.#dropMiddle()
    return segment
  }

  async #dropMiddle(): Promise<void> {
    const { headBytes, tailBytes, segmentBytes } = this.#limits
    const headCount = headBytes === 0 ? 0 : Math.max(1, Math.floor(headBytes / segmentBytes))
    const tailCount = Math.max(1, Math.floor(tailBytes / segmentBytes))
    await this.#drop(this.#segments.slice(headCount, -tailCount))
  }

  async #drop(segments: Segment[]): Promise<void> {
    for (const segment of segments) {
      await rm(segment.path, { force: true })
      this.#segments.splice(this.#segments.indexOf(segment), 1)
    }
  }
}

/** For reading and writing. A deleted file is not created again. */
function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  return openFiles(async () => {
    const file = await open(path, 'r+')
    try {
      return await use(file)
    } finally {
      await file.close()
    }
  })
}

function listSegments(directory: string): Segment[] {
  if (!fs.existsSync(directory)) return []
  const names = fs.readdirSync(directory).filter((name) => namePattern.test(name))
  return names.sort().map((name) => openSegment(join(directory, name), Number.parseInt(name, 10)))
}

/**
 * Removes files without a complete line: their first write never finished, and no reader saw a line of it.
 * The only file stays if its name records that earlier lines were dropped.
 */
function repairLast(segments: Segment[]): StoredLine | null {
  for (let segment = segments.at(-1); segment !== undefined; segment = segments.at(-1)) {
    const last = repairSegment(segment)
    if (last !== null) return last
    if (segments.length === 1 && segment.first > 1) return null
    fs.rmSync(segment.path)
    segments.pop()
  }
  return null
}

async function createSegment(directory: string, first: number): Promise<Segment> {
  const path = join(directory, `${String(first).padStart(12, '0')}.jsonl`)
  const file = await open(path, 'wx', 0o600)
  await file.close()
  return newSegment(path, first)
}

/** Only a single chunk may exceed the size limit of a file. */
function fits(segment: Segment, chunk: Chunk, { segmentBytes, maxAgeMs }: FileLimits): boolean {
  if (segment.sizeBytes === 0) return true
  if (maxAgeMs !== undefined && Date.now() - segment.begunAt > maxAgeMs / retentionParts) return false
  return segment.sizeBytes + chunk.data.length <= segmentBytes
}

function fittingData(chunks: Chunk[], roomBytes: number): Buffer[] {
  const data: Buffer[] = []
  let sizeBytes = 0
  for (const chunk of chunks) {
    sizeBytes += chunk.data.length
    if (data.length > 0 && sizeBytes > roomBytes) break
    data.push(chunk.data)
  }
  return data
}

/** A file may be dropped before it is read. The next file then reports the missing lines. */
function nullIfMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  throw error
}

// One file of a log: complete lines with rising numbers. Only the first `sizeBytes` bytes are valid. After
// them is a write in progress, or a failed one, which is cut before the next write.

interface Segment {
  path: string
  /** The lowest number that a line in the file can have. The file is named after it. */
  first: number
  sizeBytes: number
  /** A write is in progress or has failed. */
  torn: boolean
  /** When the first and the newest line were written, in ms since 1970. */
  begunAt: number
  writtenAt: number
  /** The positions where earlier readers stopped, so that they continue without a search. */
  cursors: Cursor[]
}

/** Lines from `offset` on have this number or a higher one, lines before it a lower one. */
interface Cursor {
  number: number
  offset: number
}

interface Reading {
  first: number
  upTo: number
  lines: LogLine[]
  sizeBytes: number
  offset: number
}

const newline = 10
const batchLimit = { lines: 500, bytes: 256 * 1024 }
const readChunkBytes = 64 * 1024
const maxCursors = 64

function openSegment(path: string, first: number): Segment {
  const { size, birthtimeMs, mtimeMs } = fs.statSync(path)
  const begunAt = Math.min(birthtimeMs || mtimeMs, mtimeMs)
  return { path, first, sizeBytes: size, torn: false, begunAt, writtenAt: mtimeMs, cursors: [] }
}

function newSegment(path: string, first: number): Segment {
  const now = Date.now()
  return { path, first, sizeBytes: 0, torn: false, begunAt: now, writtenAt: now, cursors: [] }
}

/** Cuts a write that a crash left unfinished. Returns the last complete line; null without one. */
function repairSegment(segment: Segment): StoredLine | null {
  const file = fs.openSync(segment.path, 'r+')
  try {
    const { end, last } = lastLineOf(file, segment.sizeBytes)
    if (end < segment.sizeBytes) fs.ftruncateSync(file, end)
    segment.sizeBytes = end
    return last
  } finally {
    fs.closeSync(file)
  }
}

/** Reads backwards from the end of the file until it finds a complete line. */
function lastLineOf(file: number, sizeBytes: number): { end: number; last: StoredLine | null } {
  for (let wantedBytes = readChunkBytes; ; wantedBytes *= 4) {
    const start = Math.max(0, sizeBytes - wantedBytes)
    const bytes = Buffer.alloc(sizeBytes - start)
    fs.readSync(file, bytes, 0, bytes.length, start)
    // The text before the first line break may be part of a line, except at the beginning of the file.
    const from = start === 0 ? 0 : bytes.indexOf(newline) + 1
    const { end, last } = lastWholeLine(bytes.subarray(from))
    if (last !== null || start === 0) return { end: start + from + end, last }
  }
}

function lastWholeLine(bytes: Buffer): { end: number; last: StoredLine | null } {
  let end = bytes.lastIndexOf(newline) + 1
  while (end > 0) {
    const start = end < 2 ? 0 : bytes.lastIndexOf(newline, end - 2) + 1
    const last = decodeLine(bytes, start, end - 1)
    if (last !== null) return { end, last }
    end = start
  }
  return { end, last: null }
}

/** Appends in one writev. After a failure readers see nothing of it, and it can be retried. */
async function appendToSegment(file: FileHandle, segment: Segment, data: Buffer[]): Promise<void> {
  const wantedBytes = data.reduce((sum, part) => sum + part.length, 0)
  if (segment.torn) await file.truncate(segment.sizeBytes)
  segment.torn = true
  const { bytesWritten } = await file.writev(data, segment.sizeBytes)
  if (bytesWritten < wantedBytes) {
    throw new StorageError('log_not_written', `${segment.path} took ${bytesWritten} of ${wantedBytes} bytes`)
  }
  segment.torn = false
  segment.writtenAt = Date.now()
  if (segment.sizeBytes === 0) segment.begunAt = segment.writtenAt
  segment.sizeBytes += wantedBytes
}

/** The lines after `after`, preceded by a line about missing ones. Null when the segment has no such line. */
async function readSegment(
  file: FileHandle,
  segment: Segment,
  after: number,
  upTo: number,
): Promise<Batch | null> {
  const offset = offsetOf(segment, after + 1)
  const reading: Reading = { first: after + 1, upTo, lines: [], sizeBytes: 0, offset }
  while (reading.offset < segment.sizeBytes) {
    const piece = await readChunk(file, reading.offset, segment.sizeBytes)
    if (piece === null || parseLines(reading, piece)) break
  }
  if (reading.lines.length === 0) return null
  rememberCursor(segment, { number: reading.first + reading.lines.length, offset: reading.offset })
  return { first: reading.first, lines: reading.lines }
}

/** Complete lines from `offset` on: about 64 KiB, or more for a longer line. */
async function readChunk(file: FileHandle, offset: number, end: number): Promise<Buffer | null> {
  for (let wantedBytes = readChunkBytes; ; wantedBytes *= 2) {
    const buffer = Buffer.allocUnsafe(Math.min(wantedBytes, end - offset))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset)
    const piece = buffer.subarray(0, bytesRead)
    const wholeBytes = piece.lastIndexOf(newline) + 1
    if (wholeBytes > 0) return piece.subarray(0, wholeBytes)
    if (bytesRead < wantedBytes) return null
  }
}

/** True for a complete batch: full, at a jump in the numbers, or at the last line to show. */
function parseLines(reading: Reading, piece: Buffer): boolean {
  let start = 0
  while (start < piece.length) {
    if (reading.lines.length >= batchLimit.lines || reading.sizeBytes >= batchLimit.bytes) return true
    const end = piece.indexOf(newline, start)
    if (!parseLine(reading, piece, start, end)) return true
    reading.offset += end + 1 - start
    start = end + 1
  }
  return false
}

/** False for a line outside this batch. Earlier lines, end marks and damaged lines are skipped. */
function parseLine(reading: Reading, piece: Buffer, start: number, end: number): boolean {
  const { lines } = reading
  const next = reading.first + lines.length
  const number = numberAt(piece, start)
  if (number < next) return true
  if (number > reading.upTo || (number > next && lines.length > 0)) return false
  const line = decodeLine(piece, start, end)?.line
  if (!line) return true
  if (number > next) {
    lines.push(missingLine(next, number - 1, line.ts))
    reading.first = number - 1
  }
  lines.push(line)
  reading.sizeBytes += end - start
  return true
}

function offsetOf(segment: Segment, number: number): number {
  let offset = 0
  for (const cursor of segment.cursors) {
    if (cursor.number <= number && cursor.offset > offset) offset = cursor.offset
  }
  return offset
}

function rememberCursor(segment: Segment, cursor: Cursor): void {
  segment.cursors.push(cursor)
  if (segment.cursors.length > maxCursors) segment.cursors.shift()
}
