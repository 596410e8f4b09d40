// Whether the names of services lead to this host.
import { randomBytes } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import { codeOf } from '../errors.ts'
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'

const unknown = ['ENODATA', 'ENOTFOUND', 'NXDOMAIN']

/** `servers`: of the system by default. */
export async function checkDns(
  { config }: Examined,
  signal: AbortSignal,
  servers?: string[],
): Promise<Finding[] | string> {
  const domain = config['base-domain']
  if (domain === 'localhost' || domain.endsWith('.localhost')) return `${domain} is this machine by itself`
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  if (servers) resolver.setServers(servers)
  signal.addEventListener('abort', () => resolver.cancel())
  // A new name resolves only by a wildcard.
  const name = `berth-doctor-${randomBytes(4).toString('hex')}.${domain}`
  const ownHost = config['dashboard-host']
  const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address))
  try {
    const addresses = await addressesOf(resolver, name)
    const hosts = ownHost === '' ? [] : [await addressesOf(resolver, ownHost)]
    const found = [
      ...(addresses.length === 0 ? [finding('dns_wildcard_missing', { domain, address: own[0] ?? '' })] : []),
      ...(hosts.some((list) => list.length === 0) ? [finding('dns_host_missing', { host: ownHost })] : []),
      ...elsewhere(`*.${domain}`, addresses, own),
    ]
    return found.length > 0 ? found : `*.${domain} is ${addresses.join(', ')}, which this host has`
  } catch (error) {
    return [finding('dns_silent', { domain, reason: codeOf(error) })]
  }
}

function elsewhere(name: string, addresses: string[], own: string[]): Finding[] {
  const foreign = addresses.filter((address) => !own.includes(address))
  return foreign.length > 0 ? [finding('dns_elsewhere', { name, addresses: foreign.join(', ') })] : []
}

async function addressesOf(resolver: Resolver, name: string): Promise<string[]> {
  const none = (error: unknown) => {
    if (unknown.includes(codeOf(error))) return []
    throw error
  }
  const found = await Promise.all([resolver.resolve4(name).catch(none), resolver.resolve6(name).catch(none)])
  return found.flat()
}
