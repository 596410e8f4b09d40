// The edge's own responses: small pages, or JSON for clients that request it, each with the request's id.
// HAProxy expands `%[…]`, so a literal percent sign is doubled.

interface Answer {
  code: string
  title: string
  text: string
}

export const errorPages = {
  malformed: {
    code: 'malformed_request',
    title: 'Bad request',
    text: 'The request is malformed, or does not name exactly one host or address with an optional port.',
  },
  unknown: {
    code: 'unknown_host',
    title: 'No such site',
    text: 'Nothing is served at this address.',
  },
  unready: {
    code: 'no_instance_ready',
    title: 'Not ready',
    text: 'No instance of this service is ready. Try again in a moment.',
  },
  suspended: {
    code: 'suspended',
    title: 'Suspended',
    text: 'This service is suspended: its owner has paused it.',
  },
  hasty: {
    code: 'too_many_requests',
    title: 'Too many requests',
    text: 'Your address has sent too many requests. Try again in a few seconds.',
  },
  failed: {
    code: 'not_forwarded',
    title: 'Not forwarded',
    text: 'This request could not be passed on to the service, or its response could not be passed back.',
  },
  broken: {
    code: 'bad_gateway',
    title: 'No answer',
    text: 'The service sent no complete, valid response. Its headers may have at most 31 KiB.',
  },
  brokenHttp2: {
    code: 'bad_gateway',
    title: 'No answer',
    text:
      'The service, which speaks HTTP/2, sent no complete, valid response. Its headers may have at most ' +
      '31 KiB, and it must support extended CONNECT (RFC 8441) for WebSockets.',
  },
  slow: {
    code: 'gateway_timeout',
    title: 'Too slow',
    text: 'The service did not respond in time.',
  },
  large: {
    code: 'payload_too_large',
    title: 'Too large',
    text: 'The request is larger than this service accepts.',
  },
} satisfies Record<string, Answer>

export type ErrorPageName = keyof typeof errorPages

const style =
  ':root{color-scheme:light dark}body{font:16px/1.6 system-ui,sans-serif;max-width:32rem;margin:18vh auto;' +
  'padding:0 1.5rem}h1{font-size:1.4rem;margin:0 0 .5rem}p{margin:0 0 1rem}small{opacity:.6}'

/** A page, as the text of a log format. A map's value would lose a blank right before the id. */
export function htmlOf(name: ErrorPageName): string {
  const { title, text } = errorPages[name]
  return (
    '<!doctype html><html lang="en"><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width">' +
    `<title>${title}</title><style>${style.replaceAll('%', '%%')}</style>` +
    `<h1>${title}</h1><p>${text}</p><small>Request <code>%[var(txn.id)]</code></small>`
  )
}

/** The same for programs, in the format of the API's own errors. */
export function jsonOf(name: ErrorPageName, status: number): string {
  const { code, title, text } = errorPages[name]
  const problem = { type: 'about:blank', title, status, code, detail: text, request_id: '%[var(txn.id)]' }
  return JSON.stringify(problem)
}

/** Errors that HAProxy itself responds with; rules produce all other responses. */
const errors: [name: ErrorPageName, status: number][] = [
  ['malformed', 400],
  ['failed', 500],
  ['broken', 502],
  ['brokenHttp2', 502],
  ['unready', 503],
  ['slow', 504],
]
const id = '%[var(txn.id)]'

/** A map of the text before and after the id: `unready..head` of a page, `unready.json.head` of a problem. */
export function pagesText(): string {
  const lines = errors.flatMap(([name, status]) => {
    const [pageHead, pageTail] = htmlOf(name).split(id)
    const [jsonHead, jsonTail] = jsonOf(name, status).split(id)
    return [
      `${name}..head ${pageHead}`,
      `${name}..tail ${pageTail}`,
      `${name}.json.head ${jsonHead}`,
      `${name}.json.tail ${jsonTail}`,
    ]
  })
  return `${lines.join('\n')}\n`
}
