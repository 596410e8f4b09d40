// The MAC of names for tests without a data directory.
import { createHash } from 'node:crypto'

export function testMac(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16)
  return [...bytes].map((byte) => 'abcdefghijklmnopqrstuvwxyz234567'[byte % 32]).join('')
}
