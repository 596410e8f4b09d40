// Blocks of IPv4 addresses, as numbers. Pure.

export interface Subnet {
  /** The first address, as a number of 32 bits. */
  first: number
  prefixLength: number
}

/** Null unless the text is `a.b.c.d/n`. Address bits beyond the prefix are dropped, as routers do. */
export function parseSubnet(text: string): Subnet | null {
  const [, address = '', length = ''] = /^(\d+\.\d+\.\d+\.\d+)\/(\d{1,2})$/.exec(text) ?? []
  const bytes = address.split('.').map(Number)
  const prefixLength = Number(length)
  if (length === '' || prefixLength > 32 || bytes.some((byte) => byte > 255)) return null
  return subnetAt(toNumber(bytes), prefixLength)
}

export function formatSubnet({ first, prefixLength }: Subnet): string {
  return `${formatAddress(first)}/${prefixLength}`
}

/** The address at a distance from the first one: 0 names the network, 1 is the gateway. */
export function addressAt({ first }: Subnet, offset: number): string {
  return formatAddress(first + offset)
}

export function overlaps(a: Subnet, b: Subnet): boolean {
  return a.first < b.first + sizeOf(b) && b.first < a.first + sizeOf(a)
}

/** The block of the same size that follows. */
export function nextSubnet(subnet: Subnet): Subnet {
  return { ...subnet, first: subnet.first + sizeOf(subnet) }
}

/** From /proc/net/route, without the default route. Its numbers are little-endian hexadecimal. */
export function parseRoutes(table: string): Subnet[] {
  const rows = table.trim().split('\n').slice(1)
  return rows
    .map((row) => row.split(/\s+/))
    .map(([, destination = '', , , , , , mask = '']) => subnetAt(fromHex(destination), bitsOf(fromHex(mask))))
    .filter(({ prefixLength }) => prefixLength > 0)
}

function subnetAt(address: number, prefixLength: number): Subnet {
  const size = 2 ** (32 - prefixLength)
  return { first: Math.floor(address / size) * size, prefixLength }
}

function sizeOf({ prefixLength }: Subnet): number {
  return 2 ** (32 - prefixLength)
}

function toNumber(bytes: number[]): number {
  return bytes.reduce((number, byte) => number * 256 + byte, 0)
}

function formatAddress(number: number): string {
  return [24, 16, 8, 0].map((bits) => (number >>> bits) & 255).join('.')
}

function fromHex(littleEndian: string): number {
  return toNumber([...Buffer.from(littleEndian, 'hex')].reverse())
}

function bitsOf(mask: number): number {
  return mask.toString(2).replaceAll('0', '').length
}
