// Request bodies. Listeners are attached synchronously, because uWS drops chunks that arrive earlier.
import { Readable } from 'node:stream'
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
  /** In order, one call at a time. A rejection ends the transfer. */
  write(piece: Uint8Array): Promise<void>
}

/** Reading pauses when this much waits for the sink. One socket read may exceed it. */
const maxWaitingBytes = 2 * 1024 * 1024
const tickMs = 5000
const maxSilentTicks = 12

/** The Content-Length; null for a chunked body. Throws `payload_too_large`. */
export function contentLengthOf(headers: BodySource['headers'], limitBytes: number): number | null {
  if (headers.has('transfer-encoding')) return null
  const announced = Number(headers.get('content-length') ?? 0)
  if (announced > limitBytes) throw payloadTooLarge(limitBytes)
  return announced
}

/** Memory for the body of one request, which is limited. */
export interface BodyHold {
  /** Throws `slow_down` when the limit is reached. */
  grow(bytes: number): void
  /** Gives everything back. May be called again. */
  release(): void
}

const firstBufferBytes = 1024

/** The whole body. Throws `payload_too_large`, `slow_down`, and `client_left`. */
export async function collectBody(source: BodySource, limitBytes: number, hold: BodyHold): Promise<Buffer> {
  const maxBytes = contentLengthOf(source.headers, limitBytes) ?? limitBytes
  if (maxBytes === 0) return Buffer.alloc(0)
  return new Promise((resolve, reject) => {
    // Tiny chunks, each in a buffer of its own, would take many times their size.
    let buffer = Buffer.alloc(0)
    let sizeBytes = 0
    let isRefused = false
    const append = (chunk: ArrayBuffer) => {
      const end = sizeBytes + chunk.byteLength
      if (end > maxBytes) throw payloadTooLarge(limitBytes)
      if (end > buffer.length) {
        // A sender of large chunks reserves all of it at once: copying half of what is refused takes time.
        const larger = Math.min(maxBytes, Math.max(4 * end, firstBufferBytes))
        hold.grow(larger - buffer.length)
        const former = buffer
        buffer = Buffer.allocUnsafeSlow(larger)
        former.copy(buffer)
      }
      buffer.set(new Uint8Array(chunk), sizeBytes)
      sizeBytes = end
    }
    source.onAborted(() => reject(clientLeft()))
    source.onData((chunk, isLast) => {
      if (isRefused) return
      try {
        append(chunk)
        if (isLast) resolve(buffer.subarray(0, sizeBytes))
      } catch (error) {
        isRefused = true
        buffer = Buffer.alloc(0)
        reject(error)
      }
    })
  })
}

/**
 * Streams the body to the sink and resolves with its size when the sink has consumed it. Rejects with the
 * error of the sink, `payload_too_large` or `client_left`, once the sink has stopped. A client that sends
 * nothing for a minute is cut.
 */
export async function streamBody(source: BodySource, limitBytes: number, sink: Sink): Promise<number> {
  if (contentLengthOf(source.headers, limitBytes) === 0) return 0
  let sizeBytes = 0
  let isPaused = false
  const resume = () => {
    if (isPaused) source.resume()
    isPaused = false
  }
  const body = new Readable({ highWaterMark: maxWaitingBytes, read: resume })
  let silentTicks = 0
  const timer = setInterval(() => {
    if (isPaused || ++silentTicks > maxSilentTicks) return
    // This restarts the timeout of uWS: 10 s, too short for a pipe whose program is busy.
    source.pause()
    source.resume()
  }, tickMs)
  // The loop below throws the error, also if it has not begun yet.
  body.on('error', () => {})
  source.onAborted(() => body.destroy(clientLeft()))
  source.onData((chunk, isLast) => {
    if (body.destroyed) return
    silentTicks = 0
    sizeBytes += chunk.byteLength
    if (sizeBytes > limitBytes) return void body.destroy(payloadTooLarge(limitBytes))
    isPaused = !body.push(copyOf(chunk)) && !isLast
    if (isPaused) source.pause()
    if (!isLast) return
    // Restarted now, the timeout would cut the response.
    clearInterval(timer)
    body.push(null)
  })
  try {
    await sink.open()
    for await (const piece of body as AsyncIterable<Buffer>) await sink.write(piece)
    return sizeBytes
  } finally {
    clearInterval(timer)
    // Further data is dropped. A source that stays paused would not report a disconnect.
    body.destroy()
    resume()
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
