// The address of a peer in its usual form. On an IPv6 socket, an IPv4 peer appears as an IPv4-mapped
// IPv6 address.

const ipv4MappedPrefix = Buffer.from('00000000000000000000ffff', 'hex')

/** Formats the 4 or 16 bytes of an address; empty for zero bytes. */
export function addressOf(bytes: ArrayBuffer): string {
  const address = Buffer.from(bytes)
  const isMapped = address.length === 16 && address.subarray(0, 12).equals(ipv4MappedPrefix)
  if (isMapped || address.length === 4) return address.subarray(-4).join('.')
  return address.toString('hex').match(/.{4}/g)?.join(':') ?? ''
}
