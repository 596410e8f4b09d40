import { timingSafeEqual } from 'node:crypto'

/** In constant time, but for the length. */
export function isEqualSecret(given: string, secret: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(secret)]
  return one.length === other.length && timingSafeEqual(one, other)
}
