// The part of terminal logins that exists only in memory: a restart must drop it.
import { randomBytes, randomInt } from 'node:crypto'
import { RetryLater } from '../errors.ts'
import { hashOf, matchesHash } from './secrets.ts'

const minuteMs = 60_000

export function createTerminalLogins(now: () => number = () => performance.now()) {
  const polls = createRate({ atOnce: 1, intervalMs: 1000 }, now)
  return {
    /** Identifies this run of the daemon: logins of earlier runs are expired. */
    bootId: randomBytes(8).toString('hex'),
    /** Tokens of approved logins, by the login's id, until they are collected. */
    uncollected: new Map<string, string>(),
    startCode: createStartCode(now),
    /** A login is open for ten minutes: at most 80 requests without a start code and 15 with one are open. */
    rates: {
      /** Of all clients together, under the key `all`. */
      all: createRate({ atOnce: 20, intervalMs: minuteMs / 6 }, now),
      network: createRate({ atOnce: 10, intervalMs: minuteMs }, now),
      /** With the start code, under the key `all`. */
      withCode: createRate({ atOnce: 5, intervalMs: minuteMs }, now),
      /** Wrong start codes, by client. */
      wrongCode: createRate({ atOnce: 10, intervalMs: minuteMs / 2 }, now),
    },
    /** Throws `slow_down` if the terminal polls too often. */
    recordPoll(id: string): void {
      if (polls.waitMs(id) > 0) throw new RetryLater('slow_down', 'this terminal polls too often', 2)
      polls.take(id)
    },
  }
}

export type TerminalLogins = ReturnType<typeof createTerminalLogins>

/** At most one of each group of similar characters: 0 O Q D, 1 I L, 2 Z, 5 S, 8 B, G 6, U V. */
const letters = 'ACEFHJKMNPRTWXY34679'

/** A code that people read and type, ACEF-HJKM. Each group has 17 random bits. */
export function newCode(groups: number): string {
  const newGroup = () => Array.from({ length: 4 }, () => letters[randomInt(letters.length)]).join('')
  return Array.from({ length: groups }, newGroup).join('-')
}

const startCodeGroups = 3
/** How long a start code is shown. It is accepted for as long again. */
const startCodeLifetimeMs = 10 * 60_000

/** Lets a terminal request a login while strangers use up the rate. Grants nothing else; new at a restart. */
export function createStartCode(now: () => number = () => performance.now()) {
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
    /** In constant time; case and dashes do not matter. */
    matches(typed: string): boolean {
      const { code, former } = renewed()
      return [code, former].some((one) => matchesHash(plain(typed), hashOf(plain(one))))
    },
  }
}

function plain(code: string): string {
  return code.toUpperCase().replace(/[^A-Z0-9]/g, '')
}

/** The keys come from strangers, so only the ones used last are remembered. */
const maxKeys = 10_000

/** A rate for each key: several at once, then one per interval. */
export function createRate(
  { atOnce, intervalMs }: { atOnce: number; intervalMs: number },
  now: () => number = () => performance.now(),
) {
  /** When all of a key are available again. */
  const fullAt = new Map<string, number>()
  const timeUntilFullMs = (key: string) => Math.max(0, (fullAt.get(key) ?? 0) - now())

  return {
    /** The time until the next one is allowed; 0 if it is allowed now. */
    waitMs: (key: string) => Math.max(0, timeUntilFullMs(key) - (atOnce - 1) * intervalMs),
    take(key: string): void {
      const at = now() + timeUntilFullMs(key) + intervalMs
      fullAt.delete(key)
      fullAt.set(key, at)
      // Maps keep their insertion order.
      if (fullAt.size > maxKeys) fullAt.delete(fullAt.keys().next().value!)
    },
  }
}

export type Rate = ReturnType<typeof createRate>
