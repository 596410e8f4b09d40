// Failures of a CA, from its problem documents (RFC 8555 section 6.7). The CA's text is untrusted: it is
// truncated and put on one line.
import { Failure } from '../../errors.ts'

export interface AcmeResponse {
  url: string
  status: number
  headers: Headers
  text: string
}

type AcmeCode = 'acme_unreachable' | 'acme_rate_limited' | 'acme_rejected' | 'acme_challenge_failed'

export class AcmeFailure extends Failure {
  /** RFC 3339: the earliest time for another request. */
  readonly retryAt: string | null

  constructor(code: AcmeCode, message: string, hint?: string, retryAt: string | null = null) {
    super(code, message, hint)
    this.retryAt = retryAt
  }
}

/** Any part may be missing or malformed. */
export interface Problem {
  type?: unknown
  detail?: unknown
  subproblems?: unknown
}

const typePrefix = 'urn:ietf:params:acme:error:'
const maxMessageLength = 500
const longestWaitMs = 7 * 24 * 60 * 60 * 1000

/** Converts a response with a status of 400 or above. */
export function refusalOf({ url, status, headers, text }: AcmeResponse): AcmeFailure {
  const problem = problemIn(text)
  const { host } = new URL(url)
  const reason = wordsOf(problem) ?? `it responded with status ${status}`
  const retryAt = retryAtOf(headers)
  if (status === 429 || typeOf(problem) === 'rateLimited') {
    const hint =
      'limits, and one wildcard for all services; manual: /docs/certificates#limits-of-the-authority'
    return new AcmeFailure('acme_rate_limited', `${host} requires a pause: ${reason}`, hint, retryAt)
  }
  return status >= 500
    ? new AcmeFailure('acme_unreachable', `${host} reports an internal error: ${reason}`, undefined, retryAt)
    : new AcmeFailure('acme_rejected', `${host} rejected the request: ${reason}`, undefined, retryAt)
}

export function checkFailure(code: AcmeCode, host: string, problem: Problem | null): AcmeFailure {
  const reason = wordsOf(problem) ?? 'the CA gave no reason'
  return new AcmeFailure(code, `the CA could not check ${host}: ${reason}`, hints[typeOf(problem) ?? ''])
}

const hints: Record<string, string> = {
  connection: 'port 80 of this server must be reachable from the internet',
  dns: 'the name servers of the domain must resolve it to this server',
  caa: 'a CAA record of the domain names the CAs that may issue for it',
}

export function isBadNonce({ status, text }: AcmeResponse): boolean {
  return status === 400 && typeOf(problemIn(text)) === 'badNonce'
}

/** The time of a Retry-After header, at most a week ahead; null without one. */
export function retryAtOf(headers: Headers, nowMs = Date.now()): string | null {
  const text = headers.get('retry-after')?.trim()
  if (!text) return null
  const instantMs = /^\d{1,9}$/.test(text) ? nowMs + Number(text) * 1000 : Date.parse(text)
  if (Number.isNaN(instantMs)) return null
  return new Date(Math.min(Math.max(instantMs, nowMs), nowMs + longestWaitMs)).toISOString()
}

function problemIn(text: string): Problem | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

function typeOf(problem: Problem | null): string | null {
  const { type } = problem ?? {}
  return typeof type === 'string' && type.startsWith(typePrefix) ? type.slice(typePrefix.length) : null
}

/** `detail`, with the details of its subproblems if they contain more. */
function wordsOf(problem: Problem | null): string | null {
  const parts = Array.isArray(problem?.subproblems) ? problem.subproblems : []
  const details = [problem, ...parts].map((one) => (one as Problem | null)?.detail)
  const messages = details.filter((detail) => typeof detail === 'string' && detail !== '')
  const text = [...new Set(messages)].join('; ').replace(/[\p{Cc}\s]+/gu, ' ')
  return text.slice(0, maxMessageLength).trim() || null
}
