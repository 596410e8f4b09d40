// Ids: a three-letter prefix and a monotonic ULID in lower case, so ids sort by creation.
// When the clock steps back, new ids continue from the newest one.
import { createHash, randomInt } from 'node:crypto'
import { decodeTime, encodeTime, monotonicFactory } from 'ulid'
import { StorageError } from './errors.ts'

export type IdPrefix =
  | 'usr'
  | 'ses'
  | 'tok'
  | 'cli'
  | 'git'
  | 'svc'
  | 'dep'
  | 'job'
  | 'dst'
  | 'bak'
  | 'rst'
  | 'sbk'
  | 'crt'
  | 'dsk'
  | 'own'
  | 'upg'
  | 'alr'
  | 'chn'
  | 'ntf'
  | 'aud'
  | 'dlv'

export interface Ids {
  newId(prefix: IdPrefix): string
}

const pattern = /^[a-z]{3}-[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** New ids sort after `newestId`, even if the clock was set back while the server was down. */
export function createIds(clock: () => number = Date.now, newestId?: string): Ids {
  // By default, ulid asks the system for each of the 16 characters.
  const nextUlid = monotonicFactory(() => randomInt(2 ** 32) / 2 ** 32)
  const earliestMs = newestId === undefined ? 1 : idTime(newestId) + 1
  return {
    newId(prefix) {
      const timeMs = Math.max(Math.floor(clock()), earliestMs)
      return `${prefix}-${nextUlid(timeMs).toLowerCase()}`
    },
  }
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** The same id for the same time and text, so that what is created twice exists once. */
export function derivedId(prefix: IdPrefix, timeMs: number, text: string): string {
  const digest = createHash('sha256').update(text).digest().subarray(0, 16)
  const tail = [...digest].map((byte) => alphabet[byte % alphabet.length]).join('')
  return `${prefix}-${encodeTime(timeMs, 10).toLowerCase()}${tail}`
}

/** True for text in the form of an id. The prefix may be one that only a later version knows. */
export function isId(text: string): boolean {
  return pattern.test(text)
}

/** The creation time of an id, in ms since 1970. Throws `invalid_id` for other text. */
export function idTime(id: string): number {
  if (!isId(id)) throw new StorageError('invalid_id', `'${id}' is not an id`)
  return decodeTime(id.slice(4))
}

/** Sorts before each id of that time or later, and after all earlier ones. */
export function idAt(prefix: IdPrefix, timeMs: number): string {
  return `${prefix}-${encodeTime(Math.max(0, timeMs), 10).toLowerCase()}`
}
