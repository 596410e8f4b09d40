// What a request and a response are to the handlers.
import type { Sink } from './body.ts'
import type { EventStream } from './event-stream.ts'
import type { DownloadStream } from './file-download.ts'
import type { WebSocket } from './web-socket.ts'

export type HeaderList = readonly (readonly [name: string, value: string])[]

export interface Request {
  /** As sent: methods are case-sensitive. */
  readonly method: string
  readonly path: string
  /** Raw, without the question mark. */
  readonly query: string
  /** Raw, in the order of the pattern. */
  readonly params: readonly string[]
  /** By lower-case name; a header given twice is joined with a comma. */
  readonly headers: ReadonlyMap<string, string>
  /** Whether it may become a WebSocket. */
  readonly isUpgrade: boolean
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
  startDownload(headers: HeaderList, totalBytes: number): DownloadStream
  /** Only for a request that `isUpgrade`. */
  upgrade(headers: HeaderList): WebSocket
}
