// One log: a queue of new lines, a writer, the newest batch in memory, and watchers. A line is shown only
// after it is written, so that a number that a reader has seen is never reused after a crash.
import { type FileLimits, LogFiles } from './log-files.ts'
import {
  type Batch,
  type Chunk,
  encodeEnd,
  encodeLine,
  type LogLine,
  lastNumberOf,
  missingLine,
} from './log-line.ts'

export interface LogLimits extends FileLimits {
  flushMs: number
  retryMs: number
  /** Bytes that may be unwritten, over all logs, before lines are dropped. */
  pendingBytes: number
}

/** Shared by all logs of a directory. */
export interface LogContext {
  readonly limits: LogLimits
  pendingBytes: number
  report(error: unknown): void
}

const chunkLines = 500
const chunkBytes = 256 * 1024

export class Log {
  readonly #context: LogContext
  readonly #files: LogFiles
  readonly #queue: LogQueue
  readonly #watchers = new Set<() => void>()
  #head: number
  /** Followers that are up to date share it. */
  #newest: Batch | null = null
  #isEnded: boolean
  #isStopped = false
  #isFailing = false
  #ending: Promise<void> | null = null
  #writing: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined
  #isExpiring = false
  /** A note that is not written yet. */
  #note: string | null = null

  /** The directory is created with the first line. Throws when existing files cannot be read. */
  constructor(directory: string, context: LogContext) {
    const { limits } = context
    this.#context = context
    this.#files = new LogFiles(directory, limits)
    const bytes = Math.min(chunkBytes, limits.segmentBytes)
    this.#queue = new LogQueue(this.#files.lastNumber, { lines: chunkLines, bytes })
    this.#head = this.#files.lastNumber
    this.#isEnded = this.#files.isEnded
  }

  get head(): number {
    return this.#head
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  get first(): number {
    return this.#files.firstNumber
  }

  /** Bytes that are not on disk yet. */
  get waitingBytes(): number {
    return this.#queue.sizeBytes
  }

  /** An idle log can be dropped from memory without loss. */
  get isIdle(): boolean {
    return this.#queue.sizeBytes === 0 && this.#writing === null && this.#watchers.size === 0
  }

  append(line: LogLine): void {
    if (this.#isEnded || this.#isStopped || this.#ending !== null) return
    const context = this.#context
    context.pendingBytes += this.#queue.add(line)
    if (context.pendingBytes > context.limits.pendingBytes) context.pendingBytes -= this.#queue.dropOldest()
    this.#schedule()
  }

  end(): Promise<void> {
    this.#ending ??= this.#isEnded || this.#isStopped ? Promise.resolve() : this.#finish()
    return this.#ending
  }

  batchAfter(number: number): Promise<Batch | null> | Batch | null {
    if (number >= this.#head) return null
    const after = Math.max(number, 0)
    return this.#newest?.first === after + 1 ? this.#newest : this.#readAfter(after)
  }

  /** The lines with the last `count` numbers, after a flush: fewer than `count` if some are missing. */
  async tail(count: number): Promise<LogLine[]> {
    if (this.#queue.sizeBytes > 0 || this.#writing !== null) await this.flush()
    const lines: LogLine[] = []
    let at = Math.max(0, this.#head - count)
    for (let batch = await this.batchAfter(at); batch !== null; batch = await this.batchAfter(at)) {
      lines.push(...batch.lines)
      at = lastNumberOf(batch)
    }
    return lines.slice(-count)
  }

  watch(onChange: () => void): () => void {
    const watcher = () => onChange()
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Resolves when the lines appended so far are written, or their write has failed. */
  async flush(): Promise<void> {
    await this.#writing
    await this.#write()
  }

  expire(): Promise<void> {
    this.#isExpiring = true
    return this.flush()
  }

  /** The note is written after all lines that were appended before. */
  writeNote(text: string): Promise<void> {
    this.#note = text
    return this.flush()
  }

  readNote(): Promise<string | null> {
    return this.#files.readNote()
  }

  /** Writes the pending lines, then ignores new ones. */
  async close(): Promise<void> {
    await this.flush()
    this.#stop()
  }

  async remove(): Promise<void> {
    this.#stop()
    await this.#writing
    this.#settle(this.#queue.drain())
    await this.#files.remove()
    this.#newest = null
    this.#isEnded = true
    this.#notify()
  }

  async #readAfter(after: number): Promise<Batch | null> {
    return (await this.#files.readAfter(after, this.#head)) ?? this.#newestAfter(after)
  }

  /** When the last lines of an ended log could not be written, the newest ones are still in memory. */
  #newestAfter(after: number): Batch | null {
    if (this.#newest === null) return null
    const { first, lines } = this.#newest
    if (after + 1 >= first) return { first: after + 1, lines: lines.slice(after + 1 - first) }
    return { first: first - 1, lines: [missingLine(after + 1, first - 1, lines[0]!.ts), ...lines] }
  }

  /** If the last lines cannot be written, followers get the newest from memory, and the write is retried. */
  async #finish(): Promise<void> {
    this.#context.pendingBytes += this.#queue.addEnd()
    await this.flush()
    await this.#files.sync().catch((error) => this.#context.report(error))
    const unwritten = this.#queue.drain()
    this.#publish(unwritten)
    this.#queue.putBack(unwritten)
    this.#isEnded = true
    this.#notify()
  }

  #stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #schedule(): void {
    if (this.#isStopped || this.#writing !== null) return
    if (this.#queue.sizeBytes >= chunkBytes && !this.#isFailing) void this.#write()
    else this.#timer ??= setTimeout(() => this.#write(), this.#waitMs())
  }

  #waitMs(): number {
    return this.#isFailing ? this.#context.limits.retryMs : this.#context.limits.flushMs
  }

  #write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing ??= this.#writeQueue().finally(() => {
      this.#writing = null
      if (this.#queue.sizeBytes > 0) this.#schedule()
    })
    return this.#writing
  }

  async #writeQueue(): Promise<void> {
    if (this.#isStopped) return
    const chunks = this.#queue.drain()
    const note = this.#note
    this.#note = null
    try {
      while (chunks.length > 0) {
        const written = chunks.splice(0, await this.#files.write(chunks))
        this.#settle(written)
        this.#publish(written)
        this.#notify()
      }
      if (note !== null) await this.#files.writeNote(note)
      if (this.#isExpiring && (await this.#files.expire())) this.#newest = null
      this.#isExpiring = false
      this.#isFailing = false
    } catch (error) {
      this.#queue.putBack(chunks)
      this.#isFailing = true
      this.#context.report(error)
    }
  }

  #settle(chunks: Chunk[]): void {
    for (const chunk of chunks) this.#context.pendingBytes -= chunk.data.length
  }

  #publish(chunks: Chunk[]): void {
    for (const { batch } of chunks) {
      if (lastNumberOf(batch) <= this.#head) continue
      this.#newest = batch
      this.#head = lastNumberOf(batch)
    }
  }

  #notify(): void {
    for (const watcher of this.#watchers) {
      try {
        watcher()
      } catch (error) {
        this.#context.report(error)
      }
    }
  }
}

class LogQueue {
  readonly #limits: { lines: number; bytes: number }
  #sizeBytes = 0
  #chunks: Chunk[] = []
  #next: number
  /** The chunk that new lines go into. */
  #open = { lines: [] as LogLine[], texts: [] as string[], sizeBytes: 0 }

  /** `limits` apply to one chunk. Only a single large line can exceed them. */
  constructor(lastNumber: number, limits: { lines: number; bytes: number }) {
    this.#next = lastNumber + 1
    this.#limits = limits
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Returns the size the line takes on disk, in bytes. */
  add(line: LogLine): number {
    const textBytes = this.#addText(encodeLine(this.#next, line))
    this.#open.lines.push(line)
    this.#next++
    return textBytes
  }

  addEnd(): number {
    return this.#addText(encodeEnd(this.#next - 1))
  }

  drain(): Chunk[] {
    this.#closeChunk()
    const taken = this.#chunks
    this.#chunks = []
    this.#sizeBytes = 0
    return taken
  }

  /** Puts chunks that could not be written back to the front. */
  putBack(chunks: Chunk[]): void {
    this.#chunks = [...chunks, ...this.#chunks]
    for (const { data } of chunks) this.#sizeBytes += data.length
  }

  /** Drops the oldest full chunk and returns its size in bytes, 0 without a full chunk. */
  dropOldest(): number {
    const droppedBytes = this.#chunks.shift()?.data.length ?? 0
    this.#sizeBytes -= droppedBytes
    return droppedBytes
  }

  #addText(text: string): number {
    const textBytes = Buffer.byteLength(text)
    const { lines, sizeBytes } = this.#open
    if (lines.length >= this.#limits.lines || sizeBytes + textBytes > this.#limits.bytes) this.#closeChunk()
    this.#open.texts.push(text)
    this.#open.sizeBytes += textBytes
    this.#sizeBytes += textBytes
    return textBytes
  }

  #closeChunk(): void {
    const { lines, texts } = this.#open
    if (texts.length === 0) return
    const batch = { first: this.#next - lines.length, lines }
    this.#chunks.push({ batch, data: Buffer.from(texts.join('')) })
    this.#open = { lines: [], texts: [], sizeBytes: 0 }
  }
}
