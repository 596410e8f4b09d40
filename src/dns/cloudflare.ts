// Zones at Cloudflare: TXT records through its API, version 4, with a token for Zone:Read and DNS:Edit.
import { Failure, messageOf } from '../errors.ts'
import { duration } from '../quantities.ts'
import type { DnsProvider, TxtRecord } from './provider.ts'

const standardUrl = 'https://api.cloudflare.com/client/v4'
const requestMs = 30_000
const largestBytes = 1024 * 1024
const ttlSeconds = 120
/** The error code for an existing record. */
const identicalRecord = 81_058

interface Answer<Result> {
  success: boolean
  result: Result
  errors?: { code?: number; message?: string }[]
}

interface ApiRequest {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  body?: object
}

/** The token is read for each request, so that a new one needs no restart. */
export function createCloudflare(readToken: () => string, baseUrl = standardUrl): DnsProvider {
  const call = <Result>(request: ApiRequest, signal: AbortSignal) =>
    ask<Result>(`${baseUrl}${request.path}`, readToken(), request, signal)

  async function findZone(name: string, signal: AbortSignal): Promise<string> {
    const labels = name.split('.')
    for (let from = 0; from < labels.length - 1; from++) {
      const zone = labels.slice(from).join('.')
      const path = `/zones?name=${encodeURIComponent(zone)}`
      const { result } = await call<{ id: string }[]>({ method: 'GET', path }, signal)
      const id = result?.[0]?.id
      if (id) return encodeURIComponent(id)
    }
    const hint = 'the token needs Zone:Read and DNS:Edit for the zone'
    throw new Failure('dns_failed', `Cloudflare shows this token no zone of ${name}`, hint)
  }

  return {
    async present({ name, value }, signal) {
      const path = `/zones/${await findZone(name, signal)}/dns_records`
      const body = { type: 'TXT', name, content: `"${value}"`, ttl: ttlSeconds }
      await call({ method: 'POST', path, body }, signal).catch((error: unknown) => {
        if (!(error instanceof CloudflareFailure && error.codes.includes(identicalRecord))) throw error
      })
    },

    async cleanup(record, signal) {
      const records = `/zones/${await findZone(record.name, signal)}/dns_records`
      const list = `${records}?type=TXT&name=${encodeURIComponent(record.name)}&per_page=100`
      const { result } = await call<{ id: string; content: string }[]>({ method: 'GET', path: list }, signal)
      for (const { id } of result.filter((one) => isSame(one, record))) {
        const path = `${records}/${encodeURIComponent(id)}`
        await call({ method: 'DELETE', path }, signal)
      }
    },
  }
}

class CloudflareFailure extends Failure {
  readonly codes: number[]

  constructor(message: string, codes: number[]) {
    super('dns_failed', message)
    this.codes = codes
  }
}

/** Cloudflare returns a text with or without its quotes. */
function isSame({ content }: { content: string }, { value }: TxtRecord): boolean {
  return content === value || content === `"${value}"`
}

async function ask<Result>(url: string, token: string, request: ApiRequest, signal: AbortSignal) {
  const { method, body } = request
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(requestMs)])
  try {
    const response = await fetch(url, {
      method,
      signal: bounded,
      redirect: 'error',
      headers: {
        authorization: `Bearer ${token}`,
        'user-agent': 'berth',
        'content-type': 'application/json',
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const answer = parse<Result>(await boundedText(response))
    if (response.ok && answer?.success) return answer
    throw refusal(response.status, answer)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Failure) throw error
    const reason = bounded.aborted ? `no response within ${duration(requestMs)}` : messageOf(error)
    throw new Failure('dns_failed', `Cloudflare cannot be reached: ${reason}`)
  }
}

function refusal(status: number, response: Answer<unknown> | null): CloudflareFailure {
  const errors = Array.isArray(response?.errors) ? response.errors : []
  const text = errors.map(({ code, message }) => `${message} (${code})`).join('; ')
  const reason = text.replace(/[\p{Cc}\s]+/gu, ' ').slice(0, 300) || `status ${status}`
  return new CloudflareFailure(
    `Cloudflare refuses: ${reason}`,
    errors.map(({ code }) => code ?? 0),
  )
}

function parse<Result>(text: string): Answer<Result> | null {
  try {
    return JSON.parse(text) as Answer<Result>
  } catch {
    return null
  }
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > largestBytes) throw new Error('its response is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
