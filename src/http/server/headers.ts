// The headers of every answer: nothing may be framed, sniffed, cached, or tell another site an address.
import type { HeaderList } from './messages.ts'

const jsonType = 'application/json'

/** For pages: only this server's style sheet, script and icon, forms to this server only, no frames. */
const pagePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Makes the lists; what never changes is put together once. */
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
    // Keeps proxies from collecting a stream before they hand it on.
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
    /** Of an answer that was given before, to the same request. */
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
