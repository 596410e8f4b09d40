// Checks whether a TXT record has reached every name server of its zone: a CA may query any of them.
import { Resolver } from 'node:dns/promises'
import { sleep } from '../async/sleep.ts'
import { Failure } from '../errors.ts'
import type { TxtRecord } from './provider.ts'

export interface Lookup {
  /** `address:port` of the resolvers that find the zone's name servers; those of the system by default. */
  nameServers?: string[]
  longestMs?: number
  pauseMs?: number
}

const standardMs = 180_000
const standardPauseMs = 2_000
const maxAliases = 8

type State = 'present' | 'missing' | 'silent'

/** The name that must hold the record: a challenge may be delegated to another zone by CNAME. */
export async function followAliases(name: string, { nameServers }: Lookup = {}): Promise<string> {
  const resolver = resolverFor(nameServers)
  let current = name
  for (let count = 0; count < maxAliases; count++) {
    const [next] = await resolver.resolveCname(current).catch(() => [])
    if (!next) return current
    current = next.toLowerCase().replace(/\.$/, '')
  }
  throw new Failure('dns_failed', `${name} is an alias of an alias, more than ${maxAliases} times`)
}

/** Resolves when every responding name server of the zone has the record. Throws `dns_failed`. */
export async function waitForRecord(record: TxtRecord, lookup: Lookup, signal: AbortSignal): Promise<void> {
  const { longestMs = standardMs, pauseMs = standardPauseMs, nameServers } = lookup
  const deadlineMs = performance.now() + longestMs
  for (;;) {
    const servers = await findServers(record.name, nameServers)
    const states = await Promise.all(servers.map((address) => stateAt(address, record)))
    if (states.includes('present') && !states.includes('missing')) return
    if (performance.now() > deadlineMs) throw tooLate(record, servers, states)
    await sleep(pauseMs, signal)
  }
}

/** The addresses of the name servers of the closest zone. */
async function findServers(name: string, nameServers: string[] | undefined): Promise<string[]> {
  const resolver = resolverFor(nameServers)
  const labels = name.split('.')
  for (let from = 0; from < labels.length - 1; from++) {
    const hosts = await resolver.resolveNs(labels.slice(from).join('.')).catch(() => [])
    const lookups = hosts.map(async (host) => [
      ...(await resolver.resolve4(host).catch(() => [])),
      ...(await resolver.resolve6(host).catch(() => [])),
    ])
    const addresses = [...new Set((await Promise.all(lookups)).flat())]
    if (addresses.length > 0) return addresses
  }
  return []
}

async function stateAt(address: string, { name, value }: TxtRecord): Promise<State> {
  try {
    const texts = await resolverFor([address]).resolveTxt(name)
    return texts.some((parts) => parts.join('') === value) ? 'present' : 'missing'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOTFOUND' || code === 'ENODATA' ? 'missing' : 'silent'
  }
}

function resolverFor(nameServers: string[] | undefined): Resolver {
  const resolver = new Resolver({ timeout: 3000, tries: 2 })
  if (nameServers) resolver.setServers(nameServers)
  return resolver
}

function tooLate({ name }: TxtRecord, servers: string[], states: State[]): Failure {
  const missing = servers.filter((_, index) => states[index] === 'missing')
  if (missing.length > 0) {
    const reason = `the TXT record ${name} has not reached ${missing.join(', ')}`
    const hint = 'check that --acme-dns updates the zone that the name servers serve'
    return new Failure('dns_failed', reason, hint)
  }
  const reason = `no authoritative name server of ${name} responds`
  return new Failure('dns_failed', reason, 'this server must be able to query name servers on port 53')
}
