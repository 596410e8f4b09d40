// A pool of buffers for upload data that is not written yet. Allocating memory for each chunk made uploads
// less than half as fast: the kernel clears each page, and the garbage collector frees it late.

interface UploadBuffer {
  bytes: Buffer
  usedBytes: number
}

const bufferBytes = 1024 * 1024

/** A queue of bytes. A shifted buffer must be released once it is written. */
export class UploadBuffers {
  private readonly filled: UploadBuffer[] = []
  private readonly spare: Buffer[] = []

  get count(): number {
    return this.filled.length
  }

  add(bytes: Uint8Array): void {
    for (let rest = bytes; rest.length > 0; ) {
      const buffer = this.current()
      const part = rest.subarray(0, bufferBytes - buffer.usedBytes)
      buffer.bytes.set(part, buffer.usedBytes)
      buffer.usedBytes += part.length
      rest = rest.subarray(part.length)
    }
  }

  /** The oldest bytes; null when there are none. */
  shift(): Buffer | null {
    const buffer = this.filled.shift()
    return buffer ? buffer.bytes.subarray(0, buffer.usedBytes) : null
  }

  release(taken: Buffer): void {
    this.spare.push(Buffer.from(taken.buffer))
  }

  clear(): void {
    this.filled.length = 0
  }

  private current(): UploadBuffer {
    const last = this.filled.at(-1)
    if (last && last.usedBytes < bufferBytes) return last
    const buffer = { bytes: this.spare.pop() ?? Buffer.allocUnsafeSlow(bufferBytes), usedBytes: 0 }
    this.filled.push(buffer)
    return buffer
  }
}
