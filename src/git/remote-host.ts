// The host of a remote: its name is resolved once, its addresses are checked, and git connects to no other.
// Git runs with the network of the host, where a cloud keeps credentials at link-local addresses.
import { lookup } from 'node:dns/promises'
import { isInternal, isPublicAddress, plainAddress, withoutNat64 } from '../address-classes.ts'
import { settleWithin } from '../async/settle-within.ts'
import { Failure } from '../errors.ts'
import type { RepositoryUrl } from './repository.ts'

export interface HostRules {
  /** Whether only public addresses are allowed. */
  denyPrivateHosts: boolean
  /** All addresses of a name. */
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
 * The value of git's `http.curloptResolve`; null when nothing needs to be pinned. An ssh host is checked but
 * not pinned: the ssh configuration may map the name to another host.
 * Throws `source_invalid`, `git_remote_unreachable`.
 */
export async function pinHost(
  { url, kind, host }: RepositoryUrl,
  { denyPrivateHosts, resolve = resolveName }: HostRules,
): Promise<string | null> {
  if (host === null) return null
  const name = host.replace(/:\d+$/, '')
  const literal = plainAddress(name)
  const addresses = literal ? [literal] : await resolve(name).catch(() => [])
  const refused = addresses.find((address) => !isAllowed(address, denyPrivateHosts))
  if (refused !== undefined) throw refusal(url, name, refused)
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

function isAllowed(address: string, denyPrivateHosts: boolean): boolean {
  return !isInternal(address) && (!denyPrivateHosts || isPublicAddress(withoutNat64(address)))
}

function refusal(url: string, name: string, address: string): Failure {
  const leads = plainAddress(name) ? '' : `${name} resolves to ${address}, `
  const what = isInternal(address)
    ? 'a link-local or metadata address, which is never read; use the address of a git server'
    : 'a non-public address, and berthd runs with --deny-private-git-hosts'
  return new Failure('source_invalid', `cannot read ${url}: ${leads || 'it names '}${what}`)
}

export const proxyVariables = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY']

function hasProxy(): boolean {
  const named = proxyVariables.filter((name) => name !== 'NO_PROXY')
  return named.some((name) => process.env[name] || process.env[name.toLowerCase()])
}
