// The Host headers that the server accepts, and the proxies whose X-Forwarded-* headers it trusts.
import { BlockList, isIP } from 'node:net'

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
