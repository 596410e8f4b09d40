// Requests to a server of Git LFS. Each address, also that of a redirect, obeys the rules for hosts of
// remotes, and what is secret goes to one origin only.
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { checkedLookup } from '../../address-check.ts'
import { plainAddress } from '../../address-classes.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { findAddressProblem, type HostRules } from '../remote-host.ts'

export interface LfsRequest {
  url: URL
  headers: Record<string, string>
  /** Sent to the origin of `url` only, and not further by a redirect. */
  secretHeaders: Record<string, string>
  /** Of a POST. */
  body?: string
}

export interface LfsLimits {
  hostRules: HostRules
  signal: AbortSignal
}

const maxRedirects = 5
/** Without a byte for so long, a transfer has stalled. */
const stallMs = 60_000
const redirects = [301, 302, 303, 307, 308]

/** The caller reads or destroys the response. Throws `source_invalid`, `git_remote_unreachable`. */
export async function requestLfs(first: LfsRequest, limits: LfsLimits): Promise<IncomingMessage> {
  let request = first
  for (let count = 0; ; count++) {
    const response = await send(request, limits)
    const { statusCode = 0, headers } = response
    if (!redirects.includes(statusCode) || headers.location === undefined) return response
    response.destroy()
    if (count === maxRedirects) throw unreachable(request.url, 'it redirects too often')
    request = redirected(request, headers.location)
  }
}

function redirected(request: LfsRequest, location: string): LfsRequest {
  if (!URL.canParse(location, request.url.href)) throw unreachable(request.url, 'it redirects to no address')
  const url = parseLfsUrl(new URL(location, request.url).href, request.url)
  return { ...request, url, secretHeaders: url.origin === request.url.origin ? request.secretHeaders : {} }
}

/** An address that a server named. Throws `git_remote_unreachable` for one that is not used. */
export function parseLfsUrl(text: string, from: URL): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw unreachable(from, 'it names an address that is not http or https')
  if (from.protocol === 'https:' && url.protocol !== 'https:')
    throw unreachable(from, `it leads away from https, to ${url.origin}`)
  // Node would make a header of them.
  if (url.username !== '' || url.password !== '')
    throw unreachable(from, 'it names an address with a password in it')
  return url
}

async function send(request: LfsRequest, { hostRules, signal }: LfsLimits): Promise<IncomingMessage> {
  const { url, body } = request
  const literal = plainAddress(url.hostname)
  if (literal !== null) assertAllowed(url, literal, hostRules)
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const headers = { 'user-agent': 'berth', ...request.headers, ...request.secretHeaders, ...length }
  const options = {
    method: body === undefined ? 'GET' : 'POST',
    headers,
    signal,
    agent: false as const,
    lookup: checkedLookup((_, address) => assertAllowed(url, address, hostRules)),
  }
  const start = url.protocol === 'https:' ? requestHttps : requestHttp
  try {
    return await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = start(url, options, resolve).on('error', reject)
      sent.setTimeout(stallMs, () => sent.destroy(new Error('the transfer stalled')))
      sent.end(body)
    })
  } catch (error) {
    throw toLfsFailure(url, error, signal)
  }
}

function assertAllowed(url: URL, address: string, hostRules: HostRules): void {
  const problem = findAddressProblem(url.hostname.replace(/^\[|\]$/g, ''), address, hostRules)
  if (problem !== null) throw new Failure('source_invalid', `cannot read Git LFS at ${url.host}: ${problem}`)
}

/** Of a request, or of a response that is being read. */
export function toLfsFailure(url: URL, error: unknown, signal: AbortSignal): unknown {
  signal.throwIfAborted()
  return error instanceof Failure ? error : unreachable(url, reasons[codeOf(error)] ?? messageOf(error))
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'nothing listens at its address',
  ECONNRESET: 'it closed the connection',
  ENOTFOUND: 'its host name cannot be resolved',
  EAI_AGAIN: 'its host name cannot be resolved now',
}

export function unreachable(url: URL, reason: string): Failure {
  return new Failure('git_remote_unreachable', `cannot read Git LFS at ${url.host}: ${reason}`)
}
