// Classes of IP addresses: loopback, link-local and metadata, private, public.
import { BlockList, isIP, isIPv4 } from 'node:net'

const list = new BlockList()
const subnets = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '::/128', '::1/128', 'fe80::/10']
// Metadata services: AWS and Google on IPv6, Alibaba, Azure, Oracle.
const metadata = ['fd00:ec2::/32', 'fd20:ce::/32', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32']
for (const subnet of [...subnets, ...metadata]) {
  const [address = '', bits] = subnet.split('/')
  list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6')
}

/** Addresses of the host itself or of its cloud's services; also an IPv4 address inside an IPv6 one. */
function isHostOnly(address: string): boolean {
  const inner = innerAddress(address)
  if (inner !== null && isHostOnly(inner)) return true
  return list.check(address.replace(/%.*$/, ''), isIPv4(address) ? 'ipv4' : 'ipv6')
}

/** The address in a URL's host, without brackets; null for a host name. */
export function plainAddress(host: string): string | null {
  const bare = host.replace(/^\[|\]$/g, '')
  return isIP(bare) === 0 ? null : bare
}

/** Prefixes of IPv6 addresses that embed an IPv4 address, and its position. */
const carriers: { prefix: number[]; at: number }[] = [
  { prefix: [0, 0, 0, 0, 0, 0xffff], at: 6 },
  { prefix: [0, 0, 0, 0, 0, 0], at: 6 },
  { prefix: [0, 0, 0, 0, 0xffff, 0], at: 6 },
  { prefix: [0x64, 0xff9b], at: 6 },
  { prefix: [0x2002], at: 1 },
]

/** IPv4-mapped, IPv4-compatible, IPv4-translated, NAT64 and 6to4. */
function innerAddress(address: string): string | null {
  const words = isIPv4(address) ? null : wordsOf(address)
  const carrier = carriers.find(({ prefix }) => words && prefix.every((word, index) => word === words[index]))
  if (!words || !carrier) return null
  return words
    .slice(carrier.at, carrier.at + 2)
    .flatMap((word) => [word >> 8, word & 255])
    .join('.')
}

/** Decodes the well-known NAT64 prefix, by which hosts without IPv4 reach IPv4. */
export function withoutNat64(address: string): string {
  return /^64:ff9b::/i.test(address) ? (innerAddress(address) ?? address) : address
}

/** The eight words of an IPv6 address; null for any other text. */
export function wordsOf(address: string): number[] | null {
  try {
    const normal = new URL(`http://[${address.replace(/%.*$/, '')}]/`).hostname.slice(1, -1)
    const [head = '', tail] = normal.split('::')
    const numbers = (part: string) =>
      part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16))
    const [first, last] = [numbers(head), numbers(tail ?? '')]
    return [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last]
  } catch {
    return null
  }
}

/** Link-local or cloud metadata addresses. No external name may resolve to them. */
export function isInternal(address: string): boolean {
  return isHostOnly(address) && !isLoopback(address)
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

const unreachable = new BlockList()
for (const [address, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  unreachable.addSubnet(address, bits, 'ipv4')
}
for (const [address, bits] of [
  // Unspecified, loopback, and IPv4-compatible.
  ['::', 96],
  // Prefixes that embed an IPv4 address.
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['::ffff:0:0:0', 96],
  ['2001::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  unreachable.addSubnet(address, bits, 'ipv6')
}

/** A loopback address means a different machine for each client. */
export function isLoopback(address: string): boolean {
  return loopback.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
}

/** Takes the host of a URL. A name other than `localhost` may resolve to any address. */
export function isLoopbackHost(host: string): boolean {
  const address = plainAddress(host)
  return address === null ? host === 'localhost' : isLoopback(address)
}

export function isPublicAddress(address: string): boolean {
  return !unreachable.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
}
