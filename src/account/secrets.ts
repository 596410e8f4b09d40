// Secrets that Berth makes itself, and how they are compared.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { hashSecret } from '../../storage/bearers.ts'

/** 256 random bits behind a prefix that says what they are: `bths_…`. */
export function newSecret(prefix = ''): string {
  return prefix + randomBytes(32).toString('base64url')
}

/** What may be kept of one. */
export const hashOf = hashSecret

/** Whether it is the secret that has this hash, in a time that does not tell how much of it fits. */
export function fitsHash(secret: string, hash: string): boolean {
  return timingSafeEqual(Buffer.from(hashOf(secret)), Buffer.from(hash))
}
