// The body of a request with `Transfer-Encoding`, and when its response may be sent.
// uWebSockets.js does not parse trailers: it drops two bytes after the last chunk and parses what follows as
// another request. While a response is open it closes the connection instead. So the response is sent after
// the read that had the end of the body has been parsed, and it closes the connection.

type Listener = (chunk: ArrayBuffer, isLast: boolean) => void

/** A refused body is dropped until it pauses for this long: then a client may wait for the refusal. */
const quietPeriodMs = 1000
/** A refused body is dropped for at most this long; then the client may lose its response. */
const discardTimeoutMs = 30_000

export class ChunkedBody {
  /** Receives the body; data that arrive before it is set are dropped. */
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

  /** Calls `respond` once, when all received data have been parsed. Later calls do nothing. */
  respondAfterBody(respond: () => void): void {
    if (this.respond) return
    this.respond = respond
    this.respondRequestedAt = Date.now()
    if (this.isComplete) this.sendSoon()
    else this.timer = setTimeout(() => this.sendSoon(), quietPeriodMs)
  }

  /** The client left. */
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
