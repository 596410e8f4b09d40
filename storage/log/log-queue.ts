// The lines of one log that are not on disk yet, in chunks. A chunk is written as a whole and then shown as
// one Batch. Lines get their numbers here; the numbers of a dropped chunk are not reused.
import { type Batch, encodeEnd, encodeLine, type LogLine } from './log-line.ts'

export interface Chunk {
  batch: Batch
  data: Buffer
}

export class LogQueue {
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
