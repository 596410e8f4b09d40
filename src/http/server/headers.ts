// The headers of every response. They forbid framing, content sniffing, caching and cross-site referrers.
import type { HeaderList } from './messages.ts'

const jsonType = 'application/json'

/** Pages may load styles, scripts and images from this server only, and post forms only to it. */
const pagePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Builds the header lists. The constant parts are built once. */
export function createHeaders(version: string) {
  const common = [
    ['X-Content-Type-Options', 'nosniff'],
    ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
    ['Referrer-Policy', 'no-referrer'],
    ['Berth-Version', version],
  ] as const
  const noStore = [...common, ['Cache-Control', 'no-store']] as const
  const jsonList = [...noStore, ['Content-Type', jsonType]] as const
  const streamList = [
    ...common,
    ['Cache-Control', 'no-cache, no-store'],
    // Disables buffering of the stream in proxies.
    ['X-Accel-Buffering', 'no'],
    ['Content-Type', 'text/event-stream'],
  ] as const

  const pageList = [
    ['X-Content-Type-Options', 'nosniff'],
    ['Content-Security-Policy', pagePolicy],
    // With `no-referrer`, browsers would not send the origin of a form.
    ['Referrer-Policy', 'same-origin'],
    ['Berth-Version', version],
    ['Cache-Control', 'no-store'],
    ['Content-Type', 'text/html; charset=utf-8'],
  ] as const

  return {
    json: withRequestId(jsonList),
    /** For the response to a repeated request. */
    repeated: withRequestId([...jsonList, ['Idempotency-Replayed', 'true']]),
    stream: withRequestId(streamList),
    page: withRequestId(pageList),
    empty: withRequestId(noStore),
    typed: (requestId: string, contentType: string, more: HeaderList = []): HeaderList => [
      ...noStore,
      ['Content-Type', contentType],
      ['X-Request-Id', requestId],
      ...more,
    ],
  }
}

function withRequestId(list: HeaderList) {
  return (requestId: string, more: HeaderList = []): HeaderList => [
    ...list,
    ['X-Request-Id', requestId],
    ...more,
  ]
}

export type Headers = ReturnType<typeof createHeaders>
