// All files of one log, in their own directory: `<number of the first line>.jsonl`. The first files
// (head) and the last ones (tail) are retained. Where files were dropped the numbers jump, and readers
// get a line with the count of missing lines. It has the number of the last missing line, so a reader can
// resume at any number.
import * as fs from 'node:fs'
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FilePool } from './file-pool.ts'
import { type Batch, lastNumberOf, type StoredLine } from './log-line.ts'
import type { Chunk } from './log-queue.ts'
import {
  appendToSegment,
  newSegment,
  openSegment,
  readSegment,
  repairSegment,
  type Segment,
} from './log-segment.ts'

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

export class LogFiles {
  readonly #directory: string
  readonly #pool: FilePool
  readonly #limits: FileLimits
  readonly #segments: Segment[]
  #lastNumber: number
  /** Whether the log had ended when the files were opened. */
  readonly isEnded: boolean

  /** Opens the files of a log, if there are any. Cuts an incomplete write from the end of the last file. */
  constructor(directory: string, pool: FilePool, limits: FileLimits) {
    this.#directory = directory
    this.#pool = pool
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
    await this.#pool.use(segment.path, (file) => appendToSegment(file, segment, data))
    this.#lastNumber = lastNumberOf(chunks[data.length - 1]!.batch)
    return data.length
  }

  async sync(): Promise<void> {
    const current = this.#segments.at(-1)
    if (current !== undefined) await this.#pool.use(current.path, (file) => file.datasync())
  }

  /** At most 500 lines after `after`, none above `upTo`. */
  async readAfter(after: number, upTo: number): Promise<Batch | null> {
    const at = this.#segments.findLastIndex((segment) => segment.first <= after + 1)
    for (const segment of this.#segments.slice(Math.max(at, 0))) {
      const reading = this.#pool.use(segment.path, (file) => readSegment(file, segment, after, upTo))
      const batch = await reading.catch(nullIfMissing)
      if (batch !== null) return batch
    }
    return null
  }

  /**
   * Drops files that are too old. True when no line is left; an empty file then preserves the next number.
   */
  async expire(): Promise<boolean> {
    const oldest = Date.now() - (this.#limits.maxAgeMs ?? Number.POSITIVE_INFINITY)
    const current = this.#segments.at(-1)
    const isAllOld = current !== undefined && current.sizeBytes > 0 && current.writtenAt < oldest
    if (isAllOld) this.#segments.push(await createSegment(this.#directory, this.#lastNumber + 1))
    await this.#drop(this.#segments.slice(0, -1).filter(({ writtenAt }) => writtenAt < oldest))
    return isAllOld
  }

  /** Stores a short text next to the log, replacing the previous one. */
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
    for (const segment of this.#segments.splice(0)) this.#pool.evict(segment.path)
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
      this.#pool.evict(segment.path)
      await rm(segment.path, { force: true })
      this.#segments.splice(this.#segments.indexOf(segment), 1)
    }
  }
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
