// The address of a peer as people write it.
// To a socket that takes IPv6, an IPv4 peer comes as an IPv6 address; nobody would know it by that.

const mapped = Buffer.from('00000000000000000000ffff', 'hex')

/** From the 4 or 16 bytes of it; empty without any. */
export function addressOf(bytes: ArrayBuffer): string {
  const address = Buffer.from(bytes)
  const isMapped = address.length === 16 && address.subarray(0, 12).equals(mapped)
  if (isMapped || address.length === 4) return address.subarray(-4).join('.')
  return address.toString('hex').match(/.{4}/g)?.join(':') ?? ''
}
