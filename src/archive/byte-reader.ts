// Reads an unpacked stream in portions. It holds at most one chunk of the source and one portion.
import { Failure } from '../errors.ts'

export class ByteReader {
  takenBytes = 0
  readonly #source: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** Reads exactly that many bytes. Throws `archive_invalid` if the source ends earlier, within `what`. */
  async take(sizeBytes: number, what: string): Promise<Buffer> {
    if (this.#rest.length >= sizeBytes) return this.#cut(sizeBytes)
    const pieces: Buffer[] = []
    for await (const piece of this.pieces(sizeBytes, what)) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  /** Reads that many bytes in pieces of any size; throws like `take`. */
  async *pieces(sizeBytes: number, what: string): AsyncGenerator<Buffer> {
    for (let missing = sizeBytes; missing > 0; ) {
      if (!(await this.#fill())) throw new Failure('archive_invalid', `the archive is cut off in ${what}`)
      const piece = this.#cut(Math.min(missing, this.#rest.length))
      missing -= piece.length
      yield piece
    }
  }

  /** Reads to the end of the source, but at most that many bytes. Returns whether it ended. */
  async drain(limitBytes: number): Promise<boolean> {
    const endBytes = this.takenBytes + limitBytes
    while (await this.#fill()) {
      this.#cut(this.#rest.length)
      if (this.takenBytes > endBytes) return false
    }
    return true
  }

  /** Releases the source, even in the middle. */
  async close(): Promise<void> {
    await this.#source.return?.()
  }

  /** Ensures that a chunk is buffered; false at the end of the source. */
  async #fill(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const { value, done } = await this.#source.next()
      if (done) return false
      this.#rest = value
    }
    return true
  }

  #cut(sizeBytes: number): Buffer {
    const piece = this.#rest.subarray(0, sizeBytes)
    this.#rest = this.#rest.subarray(sizeBytes)
    this.takenBytes += sizeBytes
    return piece
  }
}
