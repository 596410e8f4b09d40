// HTTP requests to git providers, bounded in time and size. A self-hosted instance is untrusted.
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { checkedLookup } from '../address-check.ts'
import { plainAddress } from '../address-classes.ts'
import { withTimeout } from '../async/with-timeout.ts'
import { codeOf, Failure, messageOf, RejectedNow, RetryLater } from '../errors.ts'
import { findAddressProblem, type HostRules } from '../git/remote-host.ts'
import { duration, size } from '../quantities.ts'
import { readAnswer } from '../readers/json.ts'
import { type ProviderName, providerTitles } from './base-url.ts'

export interface ProviderRequest {
  method?: 'GET' | 'POST' | 'PATCH'
  url: string
  /** Sent as a bearer token. */
  token?: string
  form?: Record<string, string>
  json?: object
  signal?: AbortSignal | undefined
}

export interface ProviderResponse {
  status: number
  headers: IncomingMessage['headers']
  /** Parsed JSON; null for an empty body. */
  body: unknown
}

/** The provider rejected the request: a 4xx status other than a rate limit. */
export class ProviderRejection extends Error {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: unknown

  constructor(text: string, { status, headers, body }: ProviderResponse) {
    super(text)
    this.status = status
    this.headers = headers
    this.body = body
  }
}

const timeoutMs = 20_000
/** A page of 100 repositories has up to 1 MB. */
const maxBodyBytes = 2 * 1024 * 1024
const maxReasonLength = 300
const maxLimitSeconds = 24 * 60 * 60

/** Throws `ProviderRejection`, `invalid_request` for a forbidden address, else `git_provider_unavailable`. */
export async function requestProvider(
  title: string,
  hostRules: HostRules,
  request: ProviderRequest,
): Promise<ProviderResponse> {
  const { host } = new URL(request.url)
  const late = unavailable(`${title} at ${host} did not respond within ${duration(timeoutMs)}`)
  return withTimeout(
    timeoutMs,
    request.signal,
    async (signal) => {
      const response = await sendOn(title, hostRules, { ...request, signal })
      if (response.status >= 200 && response.status < 300) return response
      throw toFailure(title, host, request, response)
    },
    late,
  )
}

/** Follows one redirect: a repository that was renamed has another address, of the same origin. */
async function sendOn(
  title: string,
  hostRules: HostRules,
  request: ProviderRequest,
): Promise<ProviderResponse> {
  const response = await send(title, hostRules, request)
  const { status, headers } = response
  const isRepeatable = [307, 308].includes(status) || ([301, 302].includes(status) && !request.method)
  if (!isRepeatable || !URL.canParse(headers.location ?? '', request.url)) return response
  const { href, origin } = new URL(headers.location!, request.url)
  const isSame = origin === new URL(request.url).origin
  return isSame ? send(title, hostRules, { ...request, url: href }) : response
}

async function send(
  title: string,
  hostRules: HostRules,
  { method = 'GET', url, token, form, json, signal }: ProviderRequest,
): Promise<ProviderResponse> {
  const { protocol, hostname, host } = new URL(url)
  const literal = plainAddress(hostname)
  if (literal) assertAllowed(title, hostname, literal, hostRules)
  const body = form ? new URLSearchParams(form).toString() : json ? JSON.stringify(json) : null
  const type = form ? 'application/x-www-form-urlencoded' : 'application/json'
  const headers = {
    accept: 'application/json',
    'user-agent': 'berth',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === null ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
  }
  const options = {
    method,
    headers,
    signal,
    agent: false as const,
    lookup: checkedLookup((_, address) => assertAllowed(title, hostname, address, hostRules)),
  }
  const start = protocol === 'https:' ? requestHttps : requestHttp
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      start(url, options, resolve)
        .once('error', reject)
        .end(body ?? undefined)
    })
    return await read(title, host, response, signal)
  } catch (error) {
    if (error instanceof Failure || error instanceof ProviderRejection || signal?.aborted) throw error
    throw unavailable(`could not reach ${title} at ${host}: ${reasonOf(error)}`)
  }
}

function assertAllowed(title: string, name: string, address: string, hostRules: HostRules): void {
  const problem = findAddressProblem(name.replace(/^\[|\]$/g, ''), address, hostRules)
  if (problem !== null) throw new Failure('invalid_request', `cannot connect to ${title}: ${problem}`)
}

async function read(
  title: string,
  host: string,
  response: IncomingMessage,
  signal: AbortSignal | undefined,
): Promise<ProviderResponse> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBodyBytes) {
      throw unavailable(`the response of ${title} at ${host} is larger than ${size(maxBodyBytes)}`)
    }
    chunks.push(chunk)
  }
  const { statusCode: status = 0, headers } = response
  const body = await parseBody(title, host, { status, headers, bytes: Buffer.concat(chunks) }, signal)
  return { status, headers, body }
}

async function parseBody(
  title: string,
  host: string,
  { status, headers, bytes }: { status: number; headers: IncomingMessage['headers']; bytes: Buffer },
  signal: AbortSignal | undefined,
): Promise<unknown> {
  if (bytes.length === 0) return null
  try {
    return await readAnswer(bytes, { owner: host, signal })
  } catch (error) {
    if (codeOf(error) !== 'invalid_request') throw error
    // The error page of a proxy in front of the provider; the status is the fact.
    if (status < 200 || status >= 300) return null
    const type = headers['content-type']?.split(';')[0] ?? 'something'
    const advice = `is ${host} the address of a ${title}?`
    throw unavailable(`${title} at ${host} responded with ${type} instead of JSON: ${advice}`)
  }
}

function toFailure(
  title: string,
  host: string,
  request: ProviderRequest,
  response: ProviderResponse,
): Failure | ProviderRejection {
  const { status } = response
  const { location } = response.headers
  // The token must not reach another host.
  if (status < 400 && location !== undefined) {
    const to = URL.canParse(location, request.url) ? new URL(location, request.url).origin : 'elsewhere'
    return unavailable(`${title} at ${host} redirects to ${to}: use the address of the server itself`)
  }
  const limit = rateLimitOf(response)
  if (limit !== null) {
    const until = new Date(Date.now() + limit * 1000).toISOString()
    const text = `${title} at ${host} limits requests until ${until}`
    return new RetryLater('git_provider_unavailable', text, limit)
  }
  // Masked before it is cut: a part of a secret is a leak too.
  const said = maskSecrets(reasonIn(response.body), request).slice(0, maxReasonLength)
  const text = `${title} at ${host} responded with ${status}${said === '' ? '' : `: ${said}`}`
  return status >= 400 && status < 500 ? new ProviderRejection(text, response) : unavailable(text)
}

/** Seconds until the limit is lifted; null without one. */
function rateLimitOf({ status, headers, body }: ProviderResponse): number | null {
  const retryAfter = Number(headers['retry-after'])
  const isSpent = headers['x-ratelimit-remaining'] === '0' || headers['ratelimit-remaining'] === '0'
  // GitHub says only in words that its secondary limit is exceeded.
  const isSecondary = /secondary rate limit/i.test(reasonIn(body))
  if (status !== 429 && !(status === 403 && (isSpent || isSecondary || retryAfter > 0))) return null
  if (retryAfter > 0) return Math.min(maxLimitSeconds, Math.ceil(retryAfter))
  const resetAt = Number(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'])
  const seconds = Math.ceil(resetAt - Date.now() / 1000)
  // The reset is that of the primary limit.
  return seconds > 0 && !isSecondary ? Math.min(maxLimitSeconds, seconds) : 60
}

/** GitHub, GitLab and OAuth name their reasons differently. */
function reasonIn(body: unknown): string {
  if (typeof body !== 'object' || body === null) return ''
  const fields = body as Record<string, unknown>
  const reason = [fields.error_description, fields.message, fields.error].find(
    (one) => typeof one === 'string',
  )
  return ((reason as string | undefined) ?? '').replace(/\s+/g, ' ').trim()
}

/** A provider may repeat what it was sent. */
function maskSecrets(text: string, { token, form = {} }: ProviderRequest): string {
  const secretFields = ['client_secret', 'code', 'refresh_token']
  const secrets = [token, ...secretFields.map((field) => form[field])]
  return secrets.reduce<string>((rest, secret) => (secret ? rest.replaceAll(secret, '***') : rest), text)
}

function reasonOf(error: unknown): string {
  const reasons: Record<string, string> = {
    ECONNREFUSED: 'nothing listens there',
    ECONNRESET: 'it closed the connection',
    ENOTFOUND: 'its host name does not exist',
    EAI_AGAIN: 'its host name could not be resolved now',
    EHOSTUNREACH: 'there is no route to it',
    ETIMEDOUT: 'it does not respond',
  }
  return reasons[codeOf(error)] ?? messageOf(error)
}

function unavailable(text: string): Failure {
  return new Failure('git_provider_unavailable', text)
}

// What a rejection by a provider means. "Now" is an authorization that the user makes at this moment;
// "stored" is one that a connection has kept.

/** Why a stored authorization no longer works. */
export type InvalidReason = 'expired' | 'revoked' | 'uninstalled' | 'suspended'

/** Converts the rejection of a code, a token or an installation that the user just made. Others pass. */
export function toFailureNow(provider: ProviderName, error: unknown): unknown {
  if (!(error instanceof ProviderRejection)) return error
  // A rejected code is a 400 in OAuth, and a 404 or 422 for a manifest or an installation.
  if ([400, 401, 403, 404, 410, 422].includes(error.status)) return new RejectedNow(error.message)
  return new Failure('git_provider_unavailable', `${providerTitles[provider]}: ${error.message}`)
}

/** The same for a pasted token, where 404 means that the address has no such API. */
export function toTokenFailure(provider: ProviderName, error: unknown): unknown {
  if (error instanceof ProviderRejection && error.status === 404) {
    const title = providerTitles[provider]
    return new Failure(
      'invalid_request',
      `there is no ${title} at this address`,
      `--base-url is the address of your ${title}`,
    )
  }
  if (error instanceof ProviderRejection && error.status === 401) {
    return new RejectedNow(error.message, 'the token may be wrong, expired or revoked')
  }
  return toFailureNow(provider, error)
}

/** The reason why a stored authorization ended; null if the error does not mean that. */
export function invalidReasonOf(error: unknown, expiresAt: string | null): InvalidReason | null {
  if (!(error instanceof ProviderRejection)) return null
  const isExpired = expiresAt !== null && Date.parse(expiresAt) <= Date.now()
  if (error.status === 401) return isExpired ? 'expired' : 'revoked'
  if (error.status === 403 && /suspended/i.test(error.message)) return 'suspended'
  return null
}
