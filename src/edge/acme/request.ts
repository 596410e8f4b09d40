// One request to a CA over TLS, with limits on time and size. All URLs come from the CA; http is refused
// except on loopback.
import { withTimeout } from '../../async/with-timeout.ts'
import { Failure } from '../../errors.ts'
import { duration, size } from '../../quantities.ts'
import { AcmeFailure, type AcmeResponse } from './failure.ts'

const requestMs = 30_000
const largestBytes = 256 * 1024

/** Throws `acme_unreachable`, or the signal's reason. Resolves for any status. */
export async function sendRequest(
  url: string,
  { method, body }: { method: 'GET' | 'HEAD' | 'POST'; body?: object },
  signal: AbortSignal,
): Promise<AcmeResponse> {
  const { host } = parseCaUrl(url)
  const late = new Error(`no response within ${duration(requestMs)}`)
  const exchange = async (bound: AbortSignal) => {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: bound,
      headers: { 'user-agent': 'berth', 'content-type': 'application/jose+json' },
      body: body ? JSON.stringify(body) : null,
    })
    return { url, status: response.status, headers: response.headers, text: await boundedText(response) }
  }
  try {
    return await withTimeout(requestMs, signal, exchange, late)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Failure) throw error
    throw new AcmeFailure('acme_unreachable', `${host} cannot be reached: ${reasonOf(error)}`)
  }
}

/** Throws `acme_unreachable` for an address without TLS: anyone on the path could forge its responses. */
export function parseCaUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  const isLoopback = url !== null && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback)) return url
  throw new AcmeFailure('acme_unreachable', `the address of a CA is not https: ${text.slice(0, 200)}`)
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > largestBytes) throw new Error(`its response is larger than ${size(largestBytes)}`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** fetch only reports "fetch failed"; the reason is in the cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const first = cause instanceof AggregateError ? cause.errors[0] : cause
  return first instanceof Error ? first.message : String(first)
}
