// The hosts that services answer to: how a domain is written, which ones a service has, its URL. Pure.
// Two domains are the same only in their normal form, so nothing else is stored or compared.
import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { Failure } from '../errors.ts'

/** What of a service its hosts follow from. */
export interface HostedService {
  name: string
  type: string
  custom_domains: readonly string[]
}

/** Where the edge listens; `off` is for those who bring their own. */
export interface EdgeSettings {
  mode: 'container' | 'host' | 'off'
  httpPort: number
  httpsPort: number
  /** The host of the API and the dashboard; null without one. */
  dashboardHost: string | null
}

export interface Publication {
  baseDomain: string
  edge: EdgeSettings
  /** Whether there is a valid certificate for the host. */
  hasCertificate(host: string): boolean
}

export const customDomainLimit = 50
/** The edge's own actor: there is one. */
export const edgeId = 'edge'
const longestDomain = 253
/** Of what is typed, before it is in its normal form. */
const longestInput = 1024
const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
/** Names that no public server resolves. */
const localDomains = ['localhost', 'local', 'test', 'internal', 'home.arpa', 'lan']

/** Only these are reached from outside. */
export function isPublicType(type: string): boolean {
  return type === 'web_service' || type === 'static_site'
}

/**
 * The form in which domains are stored: lower case, ASCII, without a dot at the end. Throws
 * `invalid_request`, with what to write instead where that can be told.
 */
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
    throw refused('this is no domain: its parts are 1 to 63 letters, digits and dashes inside')
  }
  if (labels.length === 1) throw refused('a domain has at least two parts')
  return domain
}

const tooLong = `a domain has at most ${longestDomain} characters`
const address = 'an address is no domain: a name has to lead to it'

/** What people paste instead of a domain, told by its name. */
function assertHostAlone(typed: string): void {
  if (typed.startsWith('*')) throw refused('a domain with * is not offered', 'add each host by its own name')
  if (isIP(typed.replace(/^\[|\]$/g, ''))) throw refused(address)
  if (/[/:?#@]/.test(typed)) {
    throw refused('a domain is a host alone, without http://, port or path', hintFor(typed))
  }
  // The parser would bend these to something else.
  if (/[%\\\s]/.test(typed)) throw refused('this is no domain: it has characters that no host has')
}

/** The domain inside a URL, when there is one that would do. */
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

/** Where a public service is without a domain of its own. */
export function defaultHost(name: string, baseDomain: string): string {
  return `${name}.${baseDomain}`
}

/** All hosts of a service: its default host, then its own domains in their order; none for other types. */
export function hostsOf({ name, type, custom_domains }: HostedService, baseDomain: string): string[] {
  if (!isPublicType(type)) return []
  return [...new Set([defaultHost(name, baseDomain), ...custom_domains])]
}

/** Whether the internet could know it: only for such a host somebody signs a certificate. */
export function isPublicHost(host: string): boolean {
  const name = withoutDot(host.toLowerCase())
  if (!name.includes('.') || name.includes(':') || isIP(name)) return false
  return !localDomains.some((domain) => name === domain || name.endsWith(`.${domain}`))
}

/** The wildcard whose certificate is good for the host: it stands for one label. */
export function wildcardOf(host: string): string {
  return `*.${host.slice(host.indexOf('.') + 1)}`
}

/** How a host is opened in a browser. */
export function originOf(host: string, { edge, hasCertificate }: Publication): string {
  if (hasCertificate(host)) return `https://${host}${edge.httpsPort === 443 ? '' : `:${edge.httpsPort}`}`
  return `http://${host}${edge.httpPort === 80 ? '' : `:${edge.httpPort}`}`
}

/** Hosts as far as the edge serves them. */
export function servedHostsOf(service: HostedService, { baseDomain, edge }: Publication): string[] {
  return edge.mode === 'off' ? [] : hostsOf(service, baseDomain)
}

/** What people open: the first host with a certificate, else the default one; null without any. */
export function urlOf(service: HostedService, publication: Publication): string | null {
  const hosts = servedHostsOf(service, publication)
  const host = hosts.find(publication.hasCertificate) ?? hosts[0]
  return host === undefined ? null : originOf(host, publication)
}
