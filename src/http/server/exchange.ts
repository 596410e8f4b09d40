// One request and its response, over uWebSockets.js. `req` is invalid after the callback, and `res` after an
// abort, so onAborted must be registered first.
import type * as Uws from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import { settleWithin } from '../../async/settle-within.ts'
import { type BodyHold, type BodySource, collectBody, type Sink, streamBody } from './body.ts'
import { createEventStream, type EventStream } from './event-stream.ts'
import { createDownloadStream, type DownloadStream } from './file-download.ts'
import type { HeaderList, Request, Response } from './messages.ts'
import { createWebSocket, type UwsWebSocket, type WebSocket } from './web-socket.ts'

/** The context for upgrading a request to a WebSocket; null if the request is not an upgrade. */
export type UpgradeContext = Uws.us_socket_context_t | null
export type SocketData = { socket: UwsWebSocket }

/** Used in place of the socket when the client disconnected before its stream started. */
const noop = () => {}
const closedSocket = {
  cork: noop,
  write: () => false,
  end: noop,
  onWritable: noop,
  pause: noop,
  resume: noop,
  close: noop,
  tryEnd: (): [boolean, boolean] => [false, false],
  getWriteOffset: () => 0,
}
const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]),
)

export class Exchange implements Request, Response, BodySource {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly params: readonly string[]
  readonly headers: ReadonlyMap<string, string>
  readonly isUpgrade: boolean
  /** True during the uWS callback, in which the socket is already corked. */
  inCallback = true
  private isDone = false
  private onAbort: (() => void) | null = null
  /** null without `Transfer-Encoding`. */
  private readonly chunkedBody: ChunkedBody | null

  constructor(
    private readonly res: Uws.HttpResponse,
    req: Uws.HttpRequest,
    paramCount: number,
    private readonly inFlight: InFlight,
    private readonly upgradeContext: UpgradeContext,
  ) {
    res.onAborted(() => this.abort())
    this.isUpgrade = upgradeContext !== null
    this.method = req.getCaseSensitiveMethod()
    this.path = req.getUrl()
    this.query = req.getQuery() ?? ''
    this.params =
      paramCount === 0 ? [] : Array.from({ length: paramCount }, (_, index) => req.getParameter(index))
    const headers = new Map<string, string>()
    req.forEach((name, value) => {
      const previous = headers.get(name)
      headers.set(name, previous === undefined ? value : `${previous}, ${value}`)
    })
    this.headers = headers
    this.chunkedBody = headers.has('transfer-encoding') ? new ChunkedBody() : null
    if (this.chunkedBody) res.onData((chunk, isLast) => this.chunkedBody!.receive(chunk, isLast))
    inFlight.requests.add(this)
  }

  address(): string {
    return this.isDone ? '' : addressOf(this.res.getRemoteAddress())
  }

  readBody(limitBytes: number, hold: BodyHold): Promise<Buffer> {
    return collectBody(this, limitBytes, hold)
  }

  receive(limitBytes: number, sink: Sink): Promise<number> {
    return streamBody(this, limitBytes, sink)
  }

  onData(listener: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    if (this.chunkedBody) this.chunkedBody.listener = listener
    else this.res.onData(listener)
  }

  onAborted(listener: () => void): void {
    this.onAbort = listener
  }

  pause(): void {
    if (!this.isDone) this.res.pause()
  }

  resume(): void {
    if (!this.isDone) this.res.resume()
  }

  send(status: number, headers: HeaderList, body: string | Uint8Array = '', close = false): void {
    if (this.chunkedBody) this.chunkedBody.respondAfterBody(() => this.finish(status, headers, body, true))
    else this.finish(status, headers, body, close || this.inFlight.stopping)
  }

  private finish(status: number, headers: HeaderList, body: string | Uint8Array, closing: boolean): void {
    if (this.isDone) return
    this.markDone()
    this.corked(() => {
      this.writeHead(status, headers)
      // An argument of undefined would send a Content-Length of 2^63; a 204 has none.
      if (status === 204) this.res.endWithoutBody()
      else if (this.method === 'HEAD') this.res.endWithoutBody(Buffer.byteLength(body), closing)
      else this.res.end(body, closing)
    })
  }

  stream(headers: HeaderList, isText = false): EventStream {
    const { streams } = this.inFlight
    const socket = this.isDone ? closedSocket : this.res
    const stream: EventStream = createEventStream(socket, () => streams.delete(stream), isText)
    if (socket === closedSocket) {
      stream.abort()
      return stream
    }
    this.markDone()
    this.onAbort = () => stream.abort()
    this.corked(() => this.writeHead(200, headers))
    streams.add(stream)
    return stream
  }

  startDownload(headers: HeaderList, totalBytes: number | null): DownloadStream {
    const isClosed = this.isDone
    const download = createDownloadStream(isClosed ? closedSocket : this.res, totalBytes)
    this.onAbort = () => download.abort()
    download.onClose(() => this.markDone())
    if (isClosed) download.abort()
    else this.corked(() => this.writeHead(200, headers))
    return download
  }

  upgrade(headers: HeaderList): WebSocket {
    const { streams } = this.inFlight
    const socket: UwsWebSocket = createWebSocket(() => streams.delete(socket))
    if (this.isDone) {
      socket.closed()
      return socket
    }
    this.markDone()
    streams.add(socket)
    const header = (name: string) => this.headers.get(`sec-websocket-${name}`) ?? ''
    this.corked(() => {
      this.writeHead(101, headers)
      this.res.upgrade(
        { socket },
        header('key'),
        header('protocol'),
        header('extensions'),
        this.upgradeContext!,
      )
    })
    return socket
  }

  private writeHead(status: number, headers: HeaderList): void {
    this.res.writeStatus(statusLines.get(status)!)
    for (const [name, value] of headers) this.res.writeHeader(name, value)
  }

  private corked(write: () => void): void {
    if (this.inCallback) write()
    else this.res.cork(write)
  }

  private abort(): void {
    this.markDone()
    this.chunkedBody?.abort()
    this.onAbort?.()
  }

  private markDone(): void {
    this.isDone = true
    removeRequest(this.inFlight, this)
  }
}

type Listener = (chunk: ArrayBuffer, isLast: boolean) => void

/** A rejected body is discarded until it pauses for this long; the client may then be waiting. */
const quietPeriodMs = 1000
/** A rejected body is discarded for at most this long. A client that still sends may miss the response. */
const discardTimeoutMs = 30_000

/**
 * The body of a request with `Transfer-Encoding`, and the time at which its response may be sent.
 * uWebSockets.js does not parse trailers: it treats them as another request, unless a response is still open.
 * So the response is sent after the last read has been parsed, and it closes the connection.
 */
class ChunkedBody {
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

const ipv4MappedPrefix = Buffer.from('00000000000000000000ffff', 'hex')

/** The text of 4 or 16 bytes, an IPv4-mapped address as IPv4; empty for zero bytes. */
export function addressOf(bytes: ArrayBuffer): string {
  const address = Buffer.from(bytes)
  const isMapped = address.length === 16 && address.subarray(0, 12).equals(ipv4MappedPrefix)
  if (isMapped || address.length === 4) return address.subarray(-4).join('.')
  return address.toString('hex').match(/.{4}/g)?.join(':') ?? ''
}

/** The requests and streams that are in flight on one server. A stop waits for requests, but ends streams. */
export interface InFlight {
  stopping: boolean
  requests: Set<object>
  streams: Set<{ end(): void }>
  onIdle: (() => void) | null
}

export function createInFlight(): InFlight {
  return { stopping: false, requests: new Set(), streams: new Set(), onIdle: null }
}

function removeRequest({ requests, onIdle }: InFlight, request: object): void {
  if (requests.delete(request) && requests.size === 0) onIdle?.()
}

/** Resolves when no request is in flight, at the latest after `deadlineMs`. */
export async function waitUntilIdle(inFlight: InFlight, deadlineMs: number): Promise<void> {
  if (inFlight.requests.size === 0) return
  const idle = new Promise<void>((resolve) => {
    inFlight.onIdle = resolve
  })
  await settleWithin(idle, deadlineMs, undefined)
}
