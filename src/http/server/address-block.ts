// The unit of limits per client address: an IPv4 address, or the /64 network of an IPv6 address, because a
// client usually controls a whole /64.
import { isIPv6 } from 'node:net'

const groupCount = 8

/** The /64 of an IPv6 address; any other address unchanged. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const mapped = /^(?:0{0,4}:){1,5}:?ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped) return mapped[1]!
  const [head = '', tail] = address.replace(/%.*$/, '').split('::')
  const before = head.split(':').filter((group) => group !== '')
  const after = (tail ?? '').split(':').filter((group) => group !== '')
  const gap =
    tail === undefined ? [] : Array<string>(Math.max(0, groupCount - before.length - after.length)).fill('0')
  const network = [...before, ...gap, ...after].slice(0, groupCount / 2)
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
