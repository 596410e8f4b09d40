// What is sent by quick requests, and what a good answer to them is.
import { createHash, randomBytes } from 'node:crypto'
import type { Chance } from '../crash/random.ts'

const mostBodyBytes = 32 * 1024

/** Mostly small, sometimes more than fits one buffer of the edge. */
export function quickBody(chance: Chance): Buffer {
  return randomBytes(chance.isTrue(0.9) ? chance.whole(1, 2048) : chance.whole(1, mostBodyBytes))
}

/** The page names who gave it, as its header does; null for a good one. */
export function isSelf(body: Buffer, by: string): string | null {
  return body.toString() === by && by !== '' ? null : `the page says '${body}', its header '${by}'`
}

/** What was sent came back; null for a good one. */
export function isSame(sent: Buffer): (body: Buffer) => string | null {
  const wanted = hashOf(sent)
  return (body) =>
    hashOf(body) === wanted ? null : `${body.length} bytes came back for ${sent.length}, or others`
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
