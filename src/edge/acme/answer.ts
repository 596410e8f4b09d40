// One request to a CA: over TLS, bounded in time and in size.
// Mind: every address comes from the CA; one that is not https is refused, but on this host's own loopback.
import { Failure } from '../../errors.ts'
import { AcmeFailure } from './failure.ts'

export interface Answer {
  url: string
  status: number
  headers: Headers
  text: string
}

export interface Question {
  method: 'GET' | 'HEAD' | 'POST'
  /** A signed request. */
  body?: object
}

const requestMs = 30_000
const largestBytes = 256 * 1024

/** Throws `acme_unreachable`, or the signal's own reason. An answer of any status is an answer. */
export async function ask(url: string, { method, body }: Question, signal: AbortSignal): Promise<Answer> {
  const { host } = requireSafe(url)
  const clock = startClock(signal)
  try {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: clock.signal,
      headers: { 'user-agent': 'berth', ...(body ? { 'content-type': 'application/jose+json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await boundedText(response)
    return { url, status: response.status, headers: response.headers, text }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Failure) throw error
    const reason = clock.signal.aborted ? `no answer within ${requestMs / 1000} s` : reasonOf(error)
    throw new AcmeFailure('acme_unreachable', `${host} cannot be reached: ${reason}`)
  } finally {
    clock.stop()
  }
}

/** Throws `acme_unreachable` for an address whose answers anybody on the way could write. */
export function requireSafe(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  const isLoopback = url !== null && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback)) return url
  throw new AcmeFailure('acme_unreachable', `the address of a CA is not https: ${text.slice(0, 200)}`)
}

// A signal combined by Node would stay on the caller's for as long as that lives.
function startClock(outer: AbortSignal) {
  const controller = new AbortController()
  const onAbort = () => controller.abort(outer.reason)
  const timer = setTimeout(() => controller.abort(), requestMs)
  outer.addEventListener('abort', onAbort)
  if (outer.aborted) onAbort()
  return {
    signal: controller.signal,
    stop() {
      clearTimeout(timer)
      outer.removeEventListener('abort', onAbort)
    },
  }
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > largestBytes) throw new Error(`its answer is larger than ${largestBytes / 1024} KiB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** fetch says only "fetch failed": why is in the cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const first = cause instanceof AggregateError ? cause.errors[0] : cause
  return first instanceof Error ? first.message : String(first)
}
