// Whether the names of services lead to this host.
import { randomBytes } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { codeOf } from '../errors.ts'
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'
import { listeners } from './ports.ts'

const unknown = ['ENODATA', 'ENOTFOUND', 'NXDOMAIN']

/** `servers`: of the system by default. */
export async function checkDns(
  { config }: Examined,
  signal: AbortSignal,
  servers?: string[],
): Promise<Finding[] | string> {
  const domain = config['base-domain']
  if (config.edge === 'off') return 'no names lead here (--edge off)'
  if (domain === 'localhost' || domain.endsWith('.localhost')) return `${domain} is this machine by itself`
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  if (servers) resolver.setServers(servers)
  signal.addEventListener('abort', () => resolver.cancel())
  // A new name resolves only by a wildcard.
  const name = `berth-doctor-${randomBytes(4).toString('hex')}.${domain}`
  const ownHost = config['dashboard-host']
  const own = ownAddresses()
  try {
    const addresses = await addressesOf(resolver, name)
    const hosts = ownHost === '' ? [] : [await addressesOf(resolver, ownHost)]
    const found = [
      ...(addresses.length === 0
        ? [finding('dns_wildcard_missing', { domain, address: own[0] ?? 'ADDRESS' })]
        : []),
      ...(hosts.some((list) => list.length === 0) ? [finding('dns_host_missing', { host: ownHost })] : []),
      ...elsewhere(`*.${domain}`, addresses, own),
      ...(await unserved(config['http-port'], addresses.filter(isIPv6))),
    ]
    return found.length > 0 ? found : `*.${domain} is ${addresses.join(', ')}, which this host has`
  } catch (error) {
    return [finding('dns_silent', { domain, reason: codeOf(error) })]
  }
}

/** Without loopback and Docker's bridges; as a record for this host would have. */
function ownAddresses(): string[] {
  const devices = Object.entries(networkInterfaces()).filter(([name]) => !/^(docker|br-|veth)/.test(name))
  return devices.flatMap(([, list]) =>
    (list ?? []).filter(({ internal }) => !internal).map(({ address }) => address),
  )
}

async function unserved(port: number, addresses: string[]): Promise<Finding[]> {
  const [address] = addresses
  if (!address || (await listeners('/proc/net/tcp6')).some((socket) => socket.port === port)) return []
  return [finding('ipv6_unserved', { address, port })]
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
