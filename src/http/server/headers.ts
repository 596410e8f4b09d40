// The headers of every response. They forbid framing, content sniffing and cross-site referrers, and caching
// except of files that never change.
import type { HeaderList } from './messages.ts'

const jsonType = 'application/json'

const policyName = 'Content-Security-Policy'

/** Pages have no script, load styles and images from this server only, and post forms only to this target. */
function pagePolicy(formTarget: string): string {
  const sources = ["style-src 'self'", "img-src 'self'"]
  const limits = [`form-action ${formTarget}`, "base-uri 'none'", "frame-ancestors 'none'"]
  return ["default-src 'none'", ...sources, ...limits].join('; ')
}

export function pagePolicyFor(formOrigin: string): HeaderList[number] {
  return [policyName, pagePolicy(formOrigin)]
}

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
    // With `no-referrer`, browsers would not send the origin of a form.
    ['Referrer-Policy', 'same-origin'],
    ['Berth-Version', version],
    ['Cache-Control', 'no-store'],
    ['Content-Type', 'text/html; charset=utf-8'],
  ] as const

  return {
    json: withRequestId(jsonList),
    repeated: withRequestId([...jsonList, ['Idempotency-Replayed', 'true']]),
    stream: withRequestId(streamList),
    page(requestId: string, more: HeaderList = []): HeaderList {
      const hasPolicy = more.some(([name]) => name === policyName)
      const policy: HeaderList = hasPolicy ? [] : [[policyName, pagePolicy("'self'")]]
      return [...pageList, ['X-Request-Id', requestId], ...policy, ...more]
    },
    empty: withRequestId(noStore),
    /** For a file whose name changes with its content. */
    unchanging: (requestId: string, contentType: string, more: HeaderList = []): HeaderList => [
      ...common,
      ['Cache-Control', `public, max-age=${yearSeconds}, immutable`],
      ['Vary', 'Accept-Encoding'],
      ['Content-Type', contentType],
      ['X-Request-Id', requestId],
      ...more,
    ],
    typed: (requestId: string, contentType: string, more: HeaderList = []): HeaderList => [
      ...noStore,
      ['Content-Type', contentType],
      ['X-Request-Id', requestId],
      ...more,
    ],
  }
}

const yearSeconds = 365 * 24 * 60 * 60

function withRequestId(list: HeaderList) {
  return (requestId: string, more: HeaderList = []): HeaderList => [
    ...list,
    ['X-Request-Id', requestId],
    ...more,
  ]
}

export type Headers = ReturnType<typeof createHeaders>
