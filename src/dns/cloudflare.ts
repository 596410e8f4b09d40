// Zones at Cloudflare: TXT records through its API, version 4, with a token for Zone:Read and DNS:Edit.
import { Failure, messageOf } from '../errors.ts'
import { duration } from '../quantities.ts'
import type { DnsProvider } from './provider.ts'

const standardUrl = 'https://api.cloudflare.com/client/v4'
const requestMs = 30_000
const ttlSeconds = 120
const identicalRecord = 81_058

interface Answer<Result> {
  success: boolean
  result: Result
  errors?: { code?: number; message?: string }[]
}

/** The token is read for each request, so that a new one needs no restart. */
export function createCloudflare(readToken: () => string, baseUrl = standardUrl): DnsProvider {
  async function call<Result>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    signal: AbortSignal,
    body?: object,
  ): Promise<Result> {
    const token = readToken()
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(requestMs)])
    try {
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        signal: bounded,
        redirect: 'error',
        headers: {
          authorization: `Bearer ${token}`,
          'user-agent': 'berth',
          'content-type': 'application/json',
        },
        body: body ? JSON.stringify(body) : null,
      })
      const text = await response.text()
      return resultOf<Result>(response.status, text)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof Failure) throw error
      const reason = bounded.aborted ? `no response within ${duration(requestMs)}` : messageOf(error)
      throw new Failure('dns_failed', `Cloudflare cannot be reached: ${reason}`)
    }
  }

  async function recordsOf(name: string, signal: AbortSignal): Promise<string> {
    const labels = name.split('.')
    for (let from = 0; from < labels.length - 1; from++) {
      const zone = encodeURIComponent(labels.slice(from).join('.'))
      const [found] = await call<{ id: string }[]>('GET', `/zones?name=${zone}`, signal)
      if (found) return `/zones/${encodeURIComponent(found.id)}/dns_records`
    }
    const hint = 'the token needs Zone:Read and DNS:Edit for the zone'
    throw new Failure('dns_failed', `Cloudflare shows this token no zone of ${name}`, hint)
  }

  return {
    async present({ name, value }, signal) {
      const body = { type: 'TXT', name, content: `"${value}"`, ttl: ttlSeconds }
      await call('POST', await recordsOf(name, signal), signal, body)
    },

    async cleanup({ name, value }, signal) {
      const records = await recordsOf(name, signal)
      const query = `type=TXT&name=${encodeURIComponent(name)}&per_page=100`
      const list = await call<{ id: string; content: string }[]>('GET', `${records}?${query}`, signal)
      for (const { id, content } of list) {
        // Cloudflare returns a text with or without its quotes.
        if (content.replace(/^"(.*)"$/, '$1') !== value) continue
        await call('DELETE', `${records}/${encodeURIComponent(id)}`, signal)
      }
    },
  }
}

/** Throws `dns_failed` with Cloudflare's reason. */
function resultOf<Result>(status: number, text: string): Result {
  const { success, errors = [], result } = parse<Result>(text)
  if (success || errors.some(({ code }) => code === identicalRecord)) return result
  const reasons = errors.map(({ code, message }) => `${message} (${code})`).join('; ')
  const reason = reasons.replace(/[\p{Cc}\s]+/gu, ' ').slice(0, 300) || `status ${status}`
  throw new Failure('dns_failed', `Cloudflare refuses: ${reason}`)
}

function parse<Result>(text: string): Partial<Answer<Result>> & { result: Result } {
  try {
    return JSON.parse(text)
  } catch {
    return { result: null as Result }
  }
}
