// One request as the edge reports it: the source of `berth logs --access` and of the traffic numbers. The
// path has no query string, because that may contain a token.

/** Why the edge itself responded with 502, 503 or 504. */
export type AccessFailure = 'no_connection' | 'no_response' | 'invalid_response' | 'response_timeout'

export interface AccessLine {
  /** When the request came: RFC 3339, UTC, milliseconds. */
  at: string
  /** The id in the response's X-Request-Id. */
  id: string
  serviceId: string
  /** The instance that responded, or null. */
  deployId: string | null
  instance: number | null
  client: string
  method: string
  host: string
  path: string
  /** `HTTP/1.1` or `HTTP/2.0`. */
  protocol: string
  tls: boolean
  status: number
  failure: AccessFailure | null
  bytesIn: number
  bytesOut: number
  /** From the first byte of the request to the last byte of the response. */
  durationMs: number
  /** Time until the body of the response began: the latency, also for streams. */
  firstByteMs: number
  userAgent: string | null
}
