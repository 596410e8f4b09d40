// Request bodies. Listeners are attached synchronously, because uWS drops chunks that arrive earlier.
import { Failure } from '../../errors.ts'
import { size } from '../../quantities.ts'

export interface BodySource {
  headers: ReadonlyMap<string, string>
  /** The listener must copy `chunk`: its memory is reused when the listener returns. */
  onData(listener: (chunk: ArrayBuffer, isLast: boolean) => void): void
  onAborted(listener: () => void): void
  pause(): void
  resume(): void
}

export interface Sink {
  /** Called before the first write. A rejection ends the transfer with nothing written. */
  open(): Promise<void>
  /** In order, one call at a time. The pieces' memory is reused afterwards. A rejection ends the transfer. */
  write(pieces: Uint8Array[]): Promise<void>
}

/** Reading pauses at this many buffers and resumes at half of it. One socket read may exceed it. */
const maxPendingBuffers = 4
const maxPieces = 1024

/** The Content-Length; null for a chunked body. Throws `payload_too_large`. */
export function contentLengthOf(headers: BodySource['headers'], limitBytes: number): number | null {
  if (headers.has('transfer-encoding')) return null
  const announced = Number(headers.get('content-length') ?? 0)
  if (announced > limitBytes) throw payloadTooLarge(limitBytes)
  return announced
}

/** The whole body. Throws `payload_too_large`, and `client_left`. */
export function collectBody(source: BodySource, limitBytes: number): Promise<Buffer> | Buffer {
  if (contentLengthOf(source.headers, limitBytes) === 0) return Buffer.alloc(0)
  return new Promise((resolve, reject) => {
    let pieces: Buffer[] = []
    let sizeBytes = 0
    source.onAborted(() => reject(clientLeft()))
    source.onData((chunk, isLast) => {
      sizeBytes += chunk.byteLength
      if (sizeBytes > limitBytes) {
        pieces = []
        return reject(payloadTooLarge(limitBytes))
      }
      pieces.push(copyOf(chunk))
      if (isLast || pieces.length === maxPieces) pieces = [Buffer.concat(pieces)]
      if (isLast) resolve(pieces[0]!)
    })
  })
}

/**
 * Streams the body to the sink and resolves with its size when the sink has consumed it. Rejects with the
 * error of the sink, `payload_too_large` or `client_left`, once the sink has stopped.
 */
export async function streamBody(source: BodySource, limitBytes: number, sink: Sink): Promise<number> {
  if (contentLengthOf(source.headers, limitBytes) === 0) return 0
  const queue = new BodyQueue(source, limitBytes)
  try {
    await sink.open()
    for await (const pieces of queue.batches()) await sink.write(pieces)
    return queue.sizeBytes
  } finally {
    queue.stop()
  }
}

class BodyQueue {
  sizeBytes = 0
  private readonly buffers = new UploadBuffers()
  private isPaused = false
  private isComplete = false
  private isStopped = false
  private failure: Failure | null = null
  private wake = () => {}

  constructor(
    private readonly source: BodySource,
    private readonly limitBytes: number,
  ) {
    source.onAborted(() => this.fail(clientLeft()))
    source.onData((chunk, isLast) => this.receive(chunk, isLast))
  }

  /** Yields one batch at a time. Requesting the next batch releases the previous one. */
  async *batches(): AsyncGenerator<Buffer[]> {
    for (;;) {
      await this.waitForInput()
      if (this.failure) throw this.failure
      const buffer = this.buffers.shift()
      if (!buffer) return
      yield [buffer]
      this.buffers.release(buffer)
      if (this.buffers.count <= maxPendingBuffers / 2) this.resume()
    }
  }

  /** Drops further data. Resumes the source, because a paused one would not report a disconnect. */
  stop(): void {
    this.isStopped = true
    this.buffers.clear()
    this.resume()
  }

  private receive(chunk: ArrayBuffer, isLast: boolean) {
    if (this.isStopped || this.failure) return
    this.sizeBytes += chunk.byteLength
    if (this.sizeBytes > this.limitBytes) return this.fail(payloadTooLarge(this.limitBytes))
    this.buffers.add(new Uint8Array(chunk))
    this.isComplete = isLast
    if (this.buffers.count >= maxPendingBuffers && !isLast) this.pause()
    this.wake()
  }

  private fail(failure: Failure): void {
    this.failure = failure
    this.buffers.clear()
    this.wake()
  }

  private async waitForInput(): Promise<void> {
    if (this.failure || this.isComplete || this.buffers.count > 0) return
    await new Promise<void>((resolve) => {
      this.wake = resolve
    })
  }

  private pause(): void {
    if (!this.isPaused) this.source.pause()
    this.isPaused = true
  }

  private resume(): void {
    if (this.isPaused) this.source.resume()
    this.isPaused = false
  }
}

function copyOf(chunk: ArrayBuffer): Buffer {
  return Buffer.from(new Uint8Array(chunk))
}

function clientLeft(): Failure {
  return new Failure('client_left', 'the client disconnected before its body was complete')
}

function payloadTooLarge(limitBytes: number): Failure {
  return new Failure('payload_too_large', `the body may have at most ${size(limitBytes)}`)
}

interface UploadBuffer {
  bytes: Buffer
  usedBytes: number
}

const bufferBytes = 1024 * 1024

/** A queue of bytes. A shifted buffer must be released once it is written. */
class UploadBuffers {
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
