// Converts problem documents of a CA (RFC 8555 section 6.7) to failures. The CA's text is untrusted: it is
// truncated and put on one line.
import type { AcmeResponse } from './answer.ts'
import { AcmeFailure } from './failure.ts'

/** The problem document of a CA; any part may be missing or malformed. */
export interface Problem {
  type?: unknown
  detail?: unknown
  subproblems?: unknown
}

const typePrefix = 'urn:ietf:params:acme:error:'
const maxMessageLength = 500
const longestWaitMs = 7 * 24 * 60 * 60 * 1000

/** Converts a response with a status of 400 or above to a failure. */
export function refusalOf(response: AcmeResponse): AcmeFailure {
  const problem = problemIn(response.text)
  const { host } = new URL(response.url)
  const retryAt = retryAtOf(response.headers)
  const type = typeOf(problem)
  const text = wordsOf(problem) ?? `it responded with status ${response.status}`
  if (response.status === 429 || type === 'rateLimited') {
    return new AcmeFailure('acme_rate_limited', `${host} requires a pause: ${text}`, {
      hint: 'limits, and one wildcard for all services; manual: /docs/certificates#limits-of-the-authority',
      retryAt,
      problem: type,
    })
  }
  if (response.status >= 500) {
    return new AcmeFailure('acme_unreachable', `${host} reports an internal error: ${text}`, {
      retryAt,
      problem: type,
    })
  }
  return new AcmeFailure('acme_rejected', `${host} rejected the request: ${text}`, { retryAt, problem: type })
}

/** The failure of a challenge or an order. */
export function challengeFailure(host: string, problem: Problem | null): AcmeFailure {
  const type = typeOf(problem)
  const text = wordsOf(problem) ?? 'the CA gave no reason'
  const hint = type === null ? undefined : hints[type]
  return new AcmeFailure('acme_challenge_failed', `the CA could not check ${host}: ${text}`, {
    problem: type,
    ...(hint ? { hint } : {}),
  })
}

const hints: Record<string, string> = {
  connection: 'port 80 of this server must be reachable from the internet',
  dns: 'the name servers of the domain must resolve it to this server',
  caa: 'a CAA record of the domain names the CAs that may issue for it',
}

export function isBadNonce(response: AcmeResponse): boolean {
  return response.status === 400 && typeOf(problemIn(response.text)) === 'badNonce'
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
  if (typeof type !== 'string' || !type.startsWith(typePrefix)) return null
  return type.slice(typePrefix.length, typePrefix.length + 60)
}

/** `detail`, with the details of its subproblems if they contain more. */
function wordsOf(problem: Problem | null): string | null {
  const parts = Array.isArray(problem?.subproblems) ? problem.subproblems : []
  const details = [problem, ...parts].map((one) => (one as Problem | null)?.detail)
  const messages = details.filter((detail) => typeof detail === 'string').filter((detail) => detail !== '')
  const text = [...new Set(messages)].join('; ').replace(/[\p{Cc}\s]+/gu, ' ')
  return text === '' ? null : text.slice(0, maxMessageLength).trim()
}
