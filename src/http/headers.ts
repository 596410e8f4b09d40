// The headers of every answer: nothing may be framed, sniffed, cached, or tell another site an address.
import type { HeaderList } from './server.ts'

const json = 'application/json'

/** Makes the lists; what never changes is put together once. */
export function createHeaders(version: string) {
  const common = [
    ['X-Content-Type-Options', 'nosniff'],
    ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
    ['Referrer-Policy', 'no-referrer'],
    ['Berth-Version', version],
  ] as const
  const stored = [...common, ['Cache-Control', 'no-store']] as const
  const jsonList = [...stored, ['Content-Type', json]] as const
  const streamList = [
    ...common,
    ['Cache-Control', 'no-cache, no-store'],
    // Keeps proxies from collecting a stream before they hand it on.
    ['X-Accel-Buffering', 'no'],
    ['Content-Type', 'text/event-stream'],
  ] as const

  return {
    json: (requestId: string): HeaderList => [...jsonList, ['X-Request-Id', requestId]],
    /** Of an answer that was given before, to the same request. */
    repeated: (requestId: string): HeaderList => [
      ...jsonList,
      ['X-Request-Id', requestId],
      ['Idempotency-Replayed', 'true'],
    ],
    stream: (requestId: string): HeaderList => [...streamList, ['X-Request-Id', requestId]],
    empty: (requestId: string, more: HeaderList): HeaderList => [
      ...stored,
      ['X-Request-Id', requestId],
      ...more,
    ],
    typed: (requestId: string, contentType: string, more: HeaderList = []): HeaderList => [
      ...stored,
      ['Content-Type', contentType],
      ['X-Request-Id', requestId],
      ...more,
    ],
  }
}

export type Headers = ReturnType<typeof createHeaders>
