// One file of a log: complete lines with rising numbers. Only the first `sizeBytes` bytes are valid. After
// them is a write in progress, or a failed one, which is cut before the next write.
import * as fs from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { StorageError } from '../store/errors.ts'
import { type Batch, decodeLine, type LogLine, missingLine, numberAt, type StoredLine } from './log-line.ts'

export interface Segment {
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

/** For an existing file. */
export function openSegment(path: string, first: number): Segment {
  const { size, birthtimeMs, mtimeMs } = fs.statSync(path)
  const begunAt = Math.min(birthtimeMs || mtimeMs, mtimeMs)
  return { path, first, sizeBytes: size, torn: false, begunAt, writtenAt: mtimeMs, cursors: [] }
}

/** For a file that was just created. */
export function newSegment(path: string, first: number): Segment {
  const now = Date.now()
  return { path, first, sizeBytes: 0, torn: false, begunAt: now, writtenAt: now, cursors: [] }
}

/** Cuts a write that a crash left unfinished. Returns the last complete line; null without one. */
export function repairSegment(segment: Segment): StoredLine | null {
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
export async function appendToSegment(file: FileHandle, segment: Segment, data: Buffer[]): Promise<void> {
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
export async function readSegment(
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

/**
 * True when the batch is complete: it is full, or has reached a jump in the numbers or the last line to show.
 */
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

/**
 * False when the line does not belong to this batch. Earlier lines, end marks and damaged lines are skipped.
 */
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
