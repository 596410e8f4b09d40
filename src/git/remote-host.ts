// The host of a remote: its name is resolved once, its addresses are checked, and git connects to no other.
// Git runs with the network of the host, where a cloud keeps credentials at link-local addresses.
import { lookup } from 'node:dns/promises'
import { isInternal, isLoopback, isPublicAddress, plainAddress, withoutNat64 } from '../address-classes.ts'
import { settleWithin } from '../async/settle-within.ts'
import { Failure } from '../errors.ts'
import type { RepositoryUrl } from './repository.ts'

export interface HostRules {
  /** Whether only public addresses are allowed. */
  denyPrivateHosts: boolean
  /** Names of git servers on this machine. Only these names may lead to a loopback address. */
  localHosts: readonly string[]
  resolve?: (name: string) => Promise<string[]>
}

const lookupMs = 20_000
const maxAddresses = 8
/** No connection to this address succeeds. A proxy still gets the host name. */
const nowhere = '255.255.255.255'

const resolveName = async (name: string): Promise<string[]> => {
  const found = await settleWithin(lookup(name, { all: true }), lookupMs, [])
  return found.map(({ address }) => address)
}

/**
 * The value of git's `http.curloptResolve`; null if none is needed. An ssh host is only checked: the ssh
 * configuration may map its name to another host. Throws `source_invalid`, `git_remote_unreachable`.
 */
export async function pinHost({ url, kind, host }: RepositoryUrl, rules: HostRules): Promise<string | null> {
  if (host === null) return null
  const name = host.replace(/:\d+$/, '')
  const literal = plainAddress(name)
  const { denyPrivateHosts, resolve = resolveName } = rules
  const addresses = literal ? [literal] : await resolve(name).catch(() => [])
  const problem = addresses.map((address) => findAddressProblem(name, address, rules)).find(Boolean)
  if (problem) throw new Failure('source_invalid', `cannot read ${url}: ${problem}`)
  // ssh's configuration and a proxy may resolve names that this host cannot.
  const isElsewhere = kind === 'ssh' ? !denyPrivateHosts : hasProxy()
  if (addresses.length === 0 && !isElsewhere) {
    throw new Failure('git_remote_unreachable', `cannot read ${url}: its host name cannot be resolved`)
  }
  if (literal || kind === 'ssh') return null
  const pinned = addresses.length === 0 ? [nowhere] : addresses.slice(0, maxAddresses)
  const label = pinned.map((one) => (one.includes(':') ? `[${one}]` : one))
  return `${name}:${new URL(url).port || (kind === 'https' ? 443 : 80)}:${label.join(',')}`
}

/** Why git and provider requests must not connect to this address of the host; null if they may. */
export function findAddressProblem(
  name: string,
  address: string,
  { denyPrivateHosts, localHosts }: Pick<HostRules, 'denyPrivateHosts' | 'localHosts'>,
): string | null {
  const subject = plainAddress(name) ? `${name} is` : `${name} resolves to ${address},`
  if (isInternal(address)) {
    return `${subject} a link-local or metadata address, which is never read; use the address of a git server`
  }
  if (localHosts.includes(name)) return null
  if (isLoopback(address)) {
    const advice = `for a git server on this machine start berthd with --local-git-host ${name}`
    return `${subject} a loopback address; ${advice}`
  }
  if (!denyPrivateHosts || isPublicAddress(withoutNat64(address))) return null
  return `${subject} a non-public address, and berthd runs with --deny-private-git-hosts`
}

export const proxyVariables = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY']

function hasProxy(): boolean {
  const named = proxyVariables.filter((name) => name !== 'NO_PROXY')
  return named.some((name) => process.env[name] || process.env[name.toLowerCase()])
}
