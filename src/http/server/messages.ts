// Requests and responses as handlers see them.
import type { BodyHold, Sink } from './body.ts'
import type { EventStream } from './event-stream.ts'
import type { DownloadStream } from './file-download.ts'
import type { WebSocket } from './web-socket.ts'

export type HeaderList = readonly (readonly [name: string, value: string])[]

export interface Request {
  /** The method as sent: methods are case-sensitive. */
  readonly method: string
  readonly path: string
  /** Raw, without the question mark. */
  readonly query: string
  /** Raw, in the order of the pattern. */
  readonly params: readonly string[]
  /** Headers by lower-case name; the values of a repeated header are joined with a comma. */
  readonly headers: ReadonlyMap<string, string>
  readonly isUpgrade: boolean
  /** The address of the peer, IPv4-mapped ones as IPv4; empty after it has disconnected. */
  address(): string
  /** Must be called before the first await, or the body is lost. Throws `payload_too_large`, `slow_down`. */
  readBody(limitBytes: number, hold: BodyHold): Promise<Buffer>
  /** Streams the body into the sink and resolves with its size. Otherwise like `readBody`. */
  receive(limitBytes: number, sink: Sink): Promise<number>
}

export interface Response {
  /** Sends once; later calls, and calls after the client left, do nothing. `close` ends the connection. */
  send(status: number, headers: HeaderList, body?: string | Uint8Array, close?: boolean): void
  stream(headers: HeaderList, isText?: boolean): EventStream
  /** Starts a body of that size, or of an unknown one, which is written with backpressure. */
  startDownload(headers: HeaderList, totalBytes: number | null): DownloadStream
  /** Only if `isUpgrade` of the request is true. */
  upgrade(headers: HeaderList): WebSocket
}
