// Codes that people read and type, in groups of four: ACEF-HJKM.
import { randomInt } from 'node:crypto'
import { hashOf, matchesHash } from './secrets.ts'

/** At most one of each group of similar characters: 0 O Q D, 1 I L, 2 Z, 5 S, 8 B, G 6, U V. */
const letters = 'ACEFHJKMNPRTWXY34679'

/** Each group has 17 random bits. */
export function newCode(groups: number): string {
  const newGroup = () => Array.from({ length: 4 }, () => letters[randomInt(letters.length)]).join('')
  return Array.from({ length: groups }, newGroup).join('-')
}

const startCodeGroups = 3
/** How long a start code is shown. It is accepted for as long again. */
const startCodeLifetimeMs = 10 * 60_000

export interface StartCode {
  current(): string
  /** In constant time; case and dashes do not matter. */
  matches(typed: string): boolean
}

/** Lets a terminal request a login while strangers use up the rate. Grants nothing else; new at a restart. */
export function createStartCode(now: () => number = () => performance.now()): StartCode {
  let latest = { period: Number.NaN, code: '', former: '' }

  function renewed() {
    const period = Math.floor(now() / startCodeLifetimeMs)
    if (period !== latest.period) {
      const former = period === latest.period + 1 ? latest.code : newCode(startCodeGroups)
      latest = { period, code: newCode(startCodeGroups), former }
    }
    return latest
  }

  return {
    current: () => renewed().code,
    matches(typed) {
      const { code, former } = renewed()
      return [code, former].some((one) => matchesHash(plain(typed), hashOf(plain(one))))
    },
  }
}

function plain(code: string): string {
  return code.toUpperCase().replace(/[^A-Z0-9]/g, '')
}
