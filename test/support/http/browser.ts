// A browser from the server's point of view: cookies and Sec-Fetch-Site, but no token.
// Checks every response against the OpenAPI document. Does not use fetch, which cannot set the Host header.
import { type IncomingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Body } from '../daemon/api.ts'
import { checkAnswer } from './openapi.ts'
import { owner } from './session.ts'

export interface BrowserAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: Body
}

/** Null removes a header that a browser would send. */
export type SentHeaders = Record<string, string | null>

export interface Browser {
  /** Cookies by name, shared by all servers of one host, as in browsers. */
  readonly jar: Map<string, string>
  /** The value of the Cookie header. */
  readonly cookie: string
  call(method: string, path: string, body?: unknown, headers?: SentHeaders): Promise<BrowserAnswer>
  setUp(code: string): Promise<BrowserAnswer>
  signIn(headers?: SentHeaders): Promise<BrowserAnswer>
}

export function openBrowser(url: string, jar = new Map<string, string>()): Browser {
  const cookieOf = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ')

  async function call(method: string, path: string, body?: unknown, headers: SentHeaders = {}) {
    const standardHeaders = { 'sec-fetch-site': 'same-origin', cookie: cookieOf() || null }
    const sent = body === undefined ? null : JSON.stringify(body)
    const type = sent === null ? {} : { 'content-type': 'application/json' }
    const response = await send(
      `${url}/api/v1${path}`,
      method,
      { ...standardHeaders, ...type, ...headers },
      sent,
    )
    for (const line of response.headers['set-cookie'] ?? []) keep(jar, line)
    checkAnswer(method, `/api/v1${path}`, response.status, response.body)
    return response
  }

  return {
    jar,
    get cookie() {
      return cookieOf()
    },
    call,
    setUp: (code) => call('POST', '/auth/setup', { code, ...owner }),
    signIn: (headers) => call('POST', '/auth/login', owner, headers),
  }
}

function send(url: string, method: string, sent: SentHeaders, body: string | null): Promise<BrowserAnswer> {
  const headers = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null))
  return new Promise((resolve, reject) => {
    const asking = request(url, { method, agent: false, headers: headers as Record<string, string> })
    asking.on('error', reject)
    asking.on('response', (response) => {
      const isJson = response.headers['content-type']?.includes('json')
      const { statusCode: status = 0, headers } = response
      text(response)
        .then((read) => resolve({ status, headers, body: isJson ? JSON.parse(read) : read }))
        .catch(reject)
    })
    asking.end(body ?? undefined)
  })
}

function keep(jar: Map<string, string>, line: string): void {
  const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
  if (/; Max-Age=0(;|$)/.test(line)) jar.delete(name!)
  else jar.set(name!, value!)
}
