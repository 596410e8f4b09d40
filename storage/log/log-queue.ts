// The lines of one log that are not on disk yet. A chunk of them is written as a whole and then shown as one
// Batch. Numbers are given here; a chunk that is dropped takes its numbers with it.
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
  /** The chunk that is being filled. */
  #open = { lines: [] as LogLine[], texts: [] as string[], sizeBytes: 0 }

  /** `limits` are those of one chunk; only a single line that is larger exceeds them. */
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

  /** Hands over all chunks, oldest first. */
  take(): Chunk[] {
    this.#closeChunk()
    const taken = this.#chunks
    this.#chunks = []
    this.#sizeBytes = 0
    return taken
  }

  /** Takes back, in front, what could not be written. */
  putBack(chunks: Chunk[]): void {
    this.#chunks = [...chunks, ...this.#chunks]
    for (const { data } of chunks) this.#sizeBytes += data.length
  }

  /** Forgets the oldest full chunk and returns its size in bytes, 0 when there is none. */
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
