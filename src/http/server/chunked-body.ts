// The body of a request with `Transfer-Encoding`, and the time at which its response may be sent.
// uWebSockets.js does not parse trailers: it treats them as another request, unless a response is still open.
// So the response is sent after the last read has been parsed, and it closes the connection.

type Listener = (chunk: ArrayBuffer, isLast: boolean) => void

/** A rejected body is discarded until it pauses for this long; the client may then be waiting. */
const quietPeriodMs = 1000
/** A rejected body is discarded for at most this long. A client that still sends may miss the response. */
const discardTimeoutMs = 30_000

export class ChunkedBody {
  /** Receives the body. Data that arrives before it is set is dropped. */
  listener: Listener | null = null
  private isComplete = false
  private respond: (() => void) | null = null
  private respondRequestedAt = 0
  private timer: NodeJS.Timeout | null = null

  receive(chunk: ArrayBuffer, isLast: boolean): void {
    this.isComplete = isLast
    this.listener?.(chunk, isLast)
    if (!this.respond) return
    if (isLast || Date.now() - this.respondRequestedAt > discardTimeoutMs) this.sendSoon()
    else this.timer?.refresh()
  }

  /** Calls `respond` once, after all received data has been parsed. Later calls do nothing. */
  respondAfterBody(respond: () => void): void {
    if (this.respond) return
    this.respond = respond
    this.respondRequestedAt = Date.now()
    if (this.isComplete) this.sendSoon()
    else this.timer = setTimeout(() => this.sendSoon(), quietPeriodMs)
  }

  abort(): void {
    if (this.timer) clearTimeout(this.timer)
    this.respond ??= () => {}
  }

  /** Deferred, because uWS may still be parsing data that it has read. */
  private sendSoon(): void {
    if (this.timer) clearTimeout(this.timer)
    this.timer = null
    setImmediate(this.respond!)
  }
}
