// The only file that knows uWebSockets.js: a small request, a small response, an orderly stop.
// Mind: `req` is dead after the callback and `res` after an abort; onAborted comes before all else.

import type * as Uws from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import { createRequire } from 'node:module'
import { Failure } from '../errors.ts'
import { addressOf } from './address.ts'
import { type BodySource, collectBody, type Sink, streamBody } from './body.ts'
import { createEventStream, type EventStream } from './event-stream.ts'
import { createOutflow, type Outflow } from './outflow.ts'
import { createTraffic, type Traffic, untilIdle } from './traffic.ts'

// Read once, when the library is loaded: hence no import statement, which would come before this line.
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '16384'
const uws: typeof Uws = createRequire(import.meta.url)('uWebSockets.js')

export type HeaderList = readonly (readonly [name: string, value: string])[]

export interface Request {
  /** As sent: methods are told apart by case. */
  readonly method: string
  readonly path: string
  /** Raw, without the question mark. */
  readonly query: string
  /** Raw, in the order of the pattern. */
  readonly params: readonly string[]
  /** By lower-case name; a header given twice is joined with a comma. */
  readonly headers: ReadonlyMap<string, string>
  /** Of the peer; empty when it is gone. An IPv4 address is written as one. */
  address(): string
  /** Must be called before the first await, or the body is lost. Throws `payload_too_large`. */
  readBody(limitBytes: number): Promise<Buffer> | Buffer
  /** Streams the body into the sink and resolves with its size; as `readBody` in all else. */
  receive(limitBytes: number, sink: Sink): Promise<number>
}

export interface Response {
  /** Sends once; later calls, and calls after the client left, do nothing. `close` ends the connection. */
  send(status: number, headers: HeaderList, body?: string | Uint8Array, close?: boolean): void
  stream(headers: HeaderList): EventStream
  /** A body of that size, which is sent as the client takes it. */
  pour(headers: HeaderList, totalBytes: number): Outflow
}

export interface ServerOptions<Target> {
  host: string
  port: number
  /** Patterns such as `/api/v1/services/{id}`, with what to hand to `listener` when one matches. */
  targets: ReadonlyMap<string, Target>
  /** Called for every request, with null when no pattern matches. Must not throw. */
  listener(target: Target | null, request: Request, response: Response): void
}

export interface Server {
  readonly port: number
  /** Takes no new connections, waits for open requests up to the deadline, ends the streams, closes. */
  stop(deadlineMs: number): Promise<void>
}

/** Listens at once. Throws `address_in_use` when the address cannot be had; port 0 is any free one. */
export function openServer<Target>(options: ServerOptions<Target>): Promise<Server> {
  const app = uws.App()
  const traffic = createTraffic<Exchange>()
  const serve = (pattern: string, target: Target | null) => {
    const paramCount = pattern.split('{').length - 1
    app.any(pattern.replace(/\{(\w+)\}/g, ':$1'), (res, req) => {
      const exchange = new Exchange(res, req, paramCount, traffic)
      options.listener(target, exchange, exchange)
      exchange.inCallback = false
    })
  }
  for (const [pattern, target] of options.targets) serve(pattern, target)
  // Without a match uWS closes the connection and says nothing.
  serve('/*', null)
  return new Promise((resolve, reject) => {
    const listening = (socket: Uws.us_listen_socket | false) => {
      if (!socket)
        return reject(
          new Failure(
            'address_in_use',
            `cannot listen on ${options.host}:${options.port}: it is in use, or not an address of this host`,
            '--listen chooses another',
          ),
        )
      const port = uws.us_socket_local_port(socket)
      resolve({ port, stop: (deadlineMs) => stopServer(app, socket, traffic, deadlineMs) })
    }
    ;(app as unknown as ExclusiveApp).listen(options.host, options.port, exclusivePort, listening)
  })
}

/** The form of `listen` that takes a host and options: uWS has it, its types do not. */
interface ExclusiveApp {
  listen(
    host: string,
    port: number,
    options: number,
    done: (socket: Uws.us_listen_socket | false) => void,
  ): void
}
/** LIBUS_LISTEN_EXCLUSIVE_PORT: without it a second daemon would share the port in silence. */
const exclusivePort = 1

async function stopServer(
  app: Uws.TemplatedApp,
  socket: Uws.us_listen_socket,
  traffic: Traffic<Exchange>,
  deadlineMs: number,
) {
  if (traffic.stopping) return
  traffic.stopping = true
  uws.us_listen_socket_close(socket)
  await untilIdle(traffic, deadlineMs)
  for (const stream of [...traffic.streams]) stream.end()
  app.close()
}

/** Stands in for the socket of a client that left before its stream began. */
const goneSocket = { cork: () => {}, write: () => false, end: () => {}, onWritable: () => {} }
const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]),
)

/** One request and its response: a class, because one is made for every request. */
class Exchange implements Request, Response, BodySource {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly params: readonly string[]
  readonly headers: ReadonlyMap<string, string>
  /** True while uWS itself has the socket corked. */
  inCallback = true
  private isDone = false
  private onAbort: (() => void) | null = null
  private readonly res: Uws.HttpResponse
  private readonly traffic: Traffic<Exchange>

  constructor(res: Uws.HttpResponse, req: Uws.HttpRequest, paramCount: number, traffic: Traffic<Exchange>) {
    res.onAborted(() => this.abort())
    this.res = res
    this.traffic = traffic
    this.method = req.getCaseSensitiveMethod()
    this.path = req.getUrl()
    this.query = req.getQuery() ?? ''
    this.params =
      paramCount === 0 ? [] : Array.from({ length: paramCount }, (_, index) => req.getParameter(index))
    const headers = new Map<string, string>()
    req.forEach((name, value) => {
      const former = headers.get(name)
      headers.set(name, former === undefined ? value : `${former}, ${value}`)
    })
    this.headers = headers
    traffic.requests.add(this)
  }

  address(): string {
    return this.isDone ? '' : addressOf(this.res.getRemoteAddress())
  }

  readBody(limitBytes: number): Promise<Buffer> | Buffer {
    return collectBody(this, limitBytes)
  }

  receive(limitBytes: number, sink: Sink): Promise<number> {
    return streamBody(this, limitBytes, sink)
  }

  onData(listener: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    this.res.onData(listener)
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
    if (this.isDone) return
    const closing = close || this.traffic.stopping
    this.done()
    this.corked(() => {
      this.writeHead(status, headers)
      // With an argument of undefined it would announce 2^63 bytes; a 204 announces none.
      if (status === 204) this.res.endWithoutBody()
      else if (this.method === 'HEAD') this.res.endWithoutBody(Buffer.byteLength(body), closing)
      else this.res.end(body, closing)
    })
  }

  stream(headers: HeaderList): EventStream {
    const { streams } = this.traffic
    const socket = this.isDone ? goneSocket : this.res
    const stream: EventStream = createEventStream(socket, () => streams.delete(stream))
    if (socket === goneSocket) {
      stream.abort()
      return stream
    }
    this.done()
    this.onAbort = () => stream.abort()
    this.corked(() => this.writeHead(200, headers))
    streams.add(stream)
    return stream
  }

  pour(headers: HeaderList, totalBytes: number): Outflow {
    const outflow = createOutflow(this.res, totalBytes)
    this.onAbort = () => outflow.abort()
    outflow.onClose(() => this.done())
    if (this.isDone) outflow.abort()
    else this.corked(() => this.writeHead(200, headers))
    return outflow
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
    this.done()
    this.onAbort?.()
  }

  private done(): void {
    this.isDone = true
    const { requests } = this.traffic
    if (requests.delete(this) && requests.size === 0) this.traffic.onIdle?.()
  }
}
