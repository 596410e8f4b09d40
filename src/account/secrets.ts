import { randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { hashSecret } from '../../storage/access/hashed-tokens.ts'

/** 256 random bits with a prefix for their kind: `bths_…`. */
export function newSecret(prefix = ''): string {
  return prefix + randomBytes(32).toString('base64url')
}

const passwordCharacters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** 32 letters and digits (190 random bits) that need no escape in a URL, a shell or a config. */
export function newPassword(): string {
  return Array.from({ length: 32 }, () => passwordCharacters[randomInt(passwordCharacters.length)]).join('')
}

/** The hash that is stored in place of a secret. */
export const hashOf = hashSecret

/** Whether the secret has this hash, compared in constant time. */
export function matchesHash(secret: string, hash: string): boolean {
  return timingSafeEqual(Buffer.from(hashOf(secret)), Buffer.from(hash))
}
