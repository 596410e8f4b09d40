// Buffers for uploads that wait to be written, from a pool. Allocating memory for each chunk made uploads
// more than twice as slow: the kernel clears each page, and the garbage collector frees it late.

interface Slab {
  bytes: Buffer
  usedBytes: number
}

const slabBytes = 1024 * 1024

/** A queue of bytes. A buffer that was taken must be returned once it is written. */
export class Slabs {
  private readonly filled: Slab[] = []
  private readonly spare: Buffer[] = []

  /** Full and partial buffers, without the one that is taken. */
  get count(): number {
    return this.filled.length
  }

  /** Copies the bytes. */
  add(bytes: Uint8Array): void {
    for (let rest = bytes; rest.length > 0; ) {
      const slab = this.open()
      const part = rest.subarray(0, slabBytes - slab.usedBytes)
      slab.bytes.set(part, slab.usedBytes)
      slab.usedBytes += part.length
      rest = rest.subarray(part.length)
    }
  }

  /** The oldest bytes; null when there are none. */
  take(): Buffer | null {
    const slab = this.filled.shift()
    return slab ? slab.bytes.subarray(0, slab.usedBytes) : null
  }

  giveBack(taken: Buffer): void {
    this.spare.push(Buffer.from(taken.buffer))
  }

  clear(): void {
    this.filled.length = 0
  }

  private open(): Slab {
    const last = this.filled.at(-1)
    if (last && last.usedBytes < slabBytes) return last
    const slab = { bytes: this.spare.pop() ?? Buffer.allocUnsafeSlow(slabBytes), usedBytes: 0 }
    this.filled.push(slab)
    return slab
  }
}
