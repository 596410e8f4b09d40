// The bodies of quick requests, and the expected responses.
import { createHash, randomBytes } from 'node:crypto'
import type { Chance } from '../crash/random.ts'

const maxBodyBytes = 32 * 1024

/** Mostly small, sometimes larger than one buffer of the edge. */
export function quickBody(chance: Chance): Buffer {
  return randomBytes(chance.isTrue(0.9) ? chance.whole(1, 2048) : chance.whole(1, maxBodyBytes))
}

/** Checks that page and header name the same sender; null if they do. */
export function isSelf(body: Buffer, by: string): string | null {
  return body.toString() === by && by !== '' ? null : `the page says '${body}', its header '${by}'`
}

/** Checks that the response echoes the request body; null if it does. */
export function isSame(sent: Buffer): (body: Buffer) => string | null {
  const wanted = hashOf(sent)
  return (body) =>
    hashOf(body) === wanted ? null : `${body.length} bytes came back for ${sent.length}, or others`
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
