// The address that a browser used for this server, and whether a request comes from the server's own pages.
// X-Forwarded-* can be forged, so it is accepted only from the edge and from proxies of --trusted-proxy.
import { BlockList, isIP } from 'node:net'
import { isEqualSecret } from '../../equal-secret.ts'
import { Failure } from '../../errors.ts'
import type { Request } from '../server/messages.ts'
import type { HttpContext } from './context.ts'

export interface Origin {
  scheme: 'http' | 'https'
  /** In lower case, with the port if it is not the default. */
  host: string
}

type RequestSource = Pick<Request, 'address' | 'headers'>
type Trust = Pick<HttpContext, 'isTrustedProxy'> & Partial<Pick<HttpContext, 'edgeSecret'>>

export function originOf(context: Trust, request: RequestSource): Origin {
  const proto = forwarded(context, request, 'x-forwarded-proto')
  const scheme = proto?.toLowerCase() === 'https' ? 'https' : 'http'
  return { scheme, host: hostOf(context, request).toLowerCase() }
}

/** The origin as text: `https://berth.example.com`. */
export function ownAddressOf(context: Trust, request: RequestSource): string {
  const { scheme, host } = originOf(context, request)
  return `${scheme}://${host}`
}

/** The Host header as sent; every request must have one. */
export function hostOf(context: Trust, request: RequestSource): string {
  return forwarded(context, request, 'x-forwarded-host') ?? request.headers.get('host') ?? ''
}

/** The port of the address, or the default of its scheme. */
export function portOf({ scheme, host }: Origin): string {
  return /:(\d+)$/.exec(host)?.[1] ?? (scheme === 'https' ? '443' : '80')
}

/** The client's address; behind trusted proxies, the last forwarded address that is not one of them. */
export function clientAddressOf(context: Trust, request: RequestSource): string {
  const hops = forwardedAll(context, request, 'x-forwarded-for').map(withoutPort)
  return hops.reverse().find((hop) => !context.isTrustedProxy(hop)) ?? request.address()
}

/** Some proxies append the port of the client: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  return hop.replace(/^([\d.]+):\d+$/, '$1').replace(/^\[(.*)\](:\d+)?$/, '$1')
}

/** Whether a browser sent the request. Scripts send neither of these headers. */
export function isFromBrowser({ headers }: RequestSource): boolean {
  return headers.has('sec-fetch-site') || headers.has('origin')
}

/**
 * For a read with a session: other sites cannot see the response, but a read may make the server connect.
 * Scripts send neither header, and `none` is an address that the user typed. Throws `cross_site_request`.
 */
export function assertNotForeignRead(context: Trust, request: RequestSource): void {
  const isTyped = request.headers.get('sec-fetch-site') === 'none'
  if (isFromBrowser(request) && !isTyped) assertSameOrigin(context, request)
}

/** Throws `cross_site_request` for a request that a page of another site triggered. */
export function assertSameOrigin(context: Trust, request: RequestSource): void {
  const site = request.headers.get('sec-fetch-site')
  const isOwn =
    site === undefined
      ? request.headers.get('origin')?.toLowerCase() === ownAddressOf(context, request)
      : site === 'same-origin'
  if (isOwn) return
  throw new Failure(
    'cross_site_request',
    'this request does not come from a page of this server',
    'scripts use an API token; pass the address of your own proxy to --trusted-proxy',
  )
}

/** The value that the nearest proxy set. */
function forwarded(context: Trust, request: RequestSource, name: string): string | undefined {
  return request.headers.has(name) ? forwardedAll(context, request, name).at(-1) : undefined
}

function forwardedAll(context: Trust, request: RequestSource, name: string): string[] {
  const claim = request.headers.get(name)
  if (claim === undefined || !isTrustedForwarder(context, request)) return []
  return claim.split(',').map((part) => part.trim())
}

/** The id that the edge gave the request, and logs; undefined for a request that is not from the edge. */
export function edgeRequestId(context: Trust, request: RequestSource): string | undefined {
  const id = request.headers.get('x-request-id')
  return id !== undefined && /^[\w-]{1,64}$/.test(id) && isFromEdge(context, request) ? id : undefined
}

function isTrustedForwarder(context: Trust, request: RequestSource): boolean {
  return isFromEdge(context, request) ?? context.isTrustedProxy(request.address())
}

/** Undefined if the request does not claim to be. */
function isFromEdge({ edgeSecret }: Trust, { headers }: RequestSource): boolean | undefined {
  const presented = edgeSecret ? headers.get('x-berth-edge') : undefined
  return presented === undefined ? undefined : isEqualSecret(presented, edgeSecret!)
}

/** Accepts loopback, the listen address and --dashboard-host only, against DNS rebinding. */
export function createHostCheck(own: readonly string[]): (host: string) => boolean {
  const allowed = new Set(['localhost', '127.0.0.1', '[::1]', ...own.filter((name) => name !== '')])
  let last: string | null = null
  return (host) => {
    // Nearly all requests have the same Host.
    if (host === last) return true
    // A trailing dot does not change the name.
    const isAllowed = allowed.has(host.replace(/\.?(:\d+)?$/, '').toLowerCase())
    if (isAllowed) last = host
    return isAllowed
  }
}

/** Takes addresses and networks, such as `10.0.0.5` and `10.0.0.0/8`. Throws for any other text. */
export function createProxyTrust(proxies: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList()
  for (const proxy of proxies) {
    const [address, bits] = proxy.split('/') as [string, string?]
    const family = familyOf(address)
    if (!family) throw new Error(`'${proxy}' is neither an address nor a network`)
    if (bits === undefined) trusted.addAddress(address, family)
    else trusted.addSubnet(address, Number(bits), family)
  }
  return (address) => {
    const family = familyOf(address)
    return family !== null && trusted.check(address, family)
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' | null {
  const version = isIP(address)
  if (version === 0) return null
  return version === 4 ? 'ipv4' : 'ipv6'
}
