// Hosts of services. Domains are stored and compared only in their normal form. Pure.
import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { Failure } from '../errors.ts'

interface HostedService {
  name: string
  type: string
  custom_domains: readonly string[]
  domain_redirects?: Readonly<Record<string, string>>
}

/** The ports of the edge; `off` is for operators with their own reverse proxy. */
export interface EdgeSettings {
  mode: 'container' | 'host' | 'off'
  httpPort: number
  httpsPort: number
  /** The host of the server's own pages and API; null if not set. */
  dashboardHost: string | null
}

export interface Publication {
  baseDomain: string
  edge: EdgeSettings
  hasCertificate(host: string): boolean
}

export const customDomainLimit = 50
export const edgeId = 'edge'
const longestDomain = 253
/** Limit of the input, before it is normalized. */
const longestInput = 1024
const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
/** Domains that do not exist in public DNS. */
const localDomains = ['localhost', 'local', 'test', 'internal', 'home.arpa', 'lan']

/** Only these types are reachable from outside. */
export function isPublicType(type: string): boolean {
  return type === 'web_service' || type === 'static_site'
}

/** Lower case, ASCII, no final dot. Throws `invalid_request`, if possible with the corrected domain. */
export function normalizeDomain(text: string): string {
  const typed = text.trim()
  if (typed === '') throw refused('a domain is missing')
  if (typed.length > longestInput) throw refused(tooLong)
  assertHostAlone(typed)
  const domain = withoutDot(domainToASCII(typed))
  if (domain.length > longestDomain) throw refused(tooLong)
  if (isIP(domain)) throw refused(address)
  const labels = domain.split('.')
  if (!labels.every((one) => label.test(one))) {
    throw refused('not a domain: each part has 1 to 63 letters, digits or inner dashes')
  }
  if (labels.length === 1) throw refused('a domain has at least two parts')
  return domain
}

const tooLong = `a domain has at most ${longestDomain} characters`
const address = 'an IP address is not a domain: use a name that resolves to it'

/** Throws a specific error for other things that users paste, such as URLs and IP addresses. */
function assertHostAlone(typed: string): void {
  if (typed.startsWith('*'))
    throw refused('a domain with * is not supported', 'add each host by its own name')
  if (isIP(typed.replace(/^\[|\]$/g, ''))) throw refused(address)
  if (/^[^/:?#@]+\/./.test(typed)) {
    const reason = 'requests are not routed by path, so each service has a host of its own'
    throw refused(`a domain has no path: ${reason}`, 'such as api.example.com')
  }
  if (/[/:?#@]/.test(typed)) {
    throw refused('a domain is a host alone, without http://, port or path', hintFor(typed))
  }
  // The parser would change these characters instead of rejecting them.
  if (/[%\\\s]/.test(typed)) throw refused('not a domain: it has characters that are invalid in host names')
}

/** Suggests the domain inside a URL, if it is valid. */
function hintFor(typed: string): string | undefined {
  try {
    const { hostname } = new URL(typed.includes('//') ? typed : `http://${typed}`)
    return `write ${normalizeDomain(hostname)}`
  } catch {
    return undefined
  }
}

function withoutDot(text: string): string {
  return text.replace(/\.$/, '')
}

function refused(message: string, hint = 'such as shop.example.com'): Failure {
  return new Failure('invalid_request', message, hint)
}

export function defaultHost(name: string, baseDomain: string): string {
  return `${name}.${baseDomain}`
}

/** The default host, then the custom domains in their order; empty for types that are not public. */
export function hostsOf({ name, type, custom_domains }: HostedService, baseDomain: string): string[] {
  if (!isPublicType(type)) return []
  return [...new Set([defaultHost(name, baseDomain), ...custom_domains])]
}

/** The host to which requests for a domain are redirected; null if the domain serves the service itself. */
export function redirectOf(service: HostedService, domain: string, baseDomain: string): string | null {
  const target = service.domain_redirects?.[domain] ?? null
  return target !== null && hostsOf(service, baseDomain).includes(target) ? target : null
}

/** Whether the host can exist in public DNS. CAs issue certificates only for such hosts. */
export function isPublicHost(host: string): boolean {
  const name = withoutDot(host.toLowerCase())
  if (!name.includes('.') || name.includes(':') || isIP(name)) return false
  return !localDomains.some((domain) => name === domain || name.endsWith(`.${domain}`))
}

/** The wildcard that covers the host. A wildcard replaces one label. */
export function wildcardOf(host: string): string {
  return `*.${host.slice(host.indexOf('.') + 1)}`
}

export function originOf(host: string, { edge, hasCertificate }: Publication): string {
  if (hasCertificate(host)) return `https://${host}${edge.httpsPort === 443 ? '' : `:${edge.httpsPort}`}`
  return `http://${host}${edge.httpPort === 80 ? '' : `:${edge.httpPort}`}`
}

export function servedHostsOf(service: HostedService, { baseDomain, edge }: Publication): string[] {
  return edge.mode === 'off' ? [] : hostsOf(service, baseDomain)
}

/** The URL to show: of the first host with a certificate, else of the default host; null without hosts. */
export function urlOf(service: HostedService, publication: Publication): string | null {
  const hosts = servedHostsOf(service, publication)
  const host = hosts.find(publication.hasCertificate) ?? hosts[0]
  return host === undefined ? null : originOf(host, publication)
}
