// The part of terminal logins that exists only in memory: a restart must drop it.
import { randomBytes, randomInt } from 'node:crypto'
import { RetryLater } from '../errors.ts'
import { hashOf, matchesHash } from './secrets.ts'

export interface TerminalLogins {
  /** Identifies this run of the daemon: logins of earlier runs are expired. */
  readonly bootId: string
  /** Tokens of approved logins, by the login's id, until they are collected. */
  readonly uncollected: Map<string, string>
  readonly startCode: StartCode
  readonly rates: LoginRates
  /** Throws `slow_down` if the terminal polls too often. */
  recordPoll(id: string): void
}

/** A login is open for ten minutes: at most 80 requests without a start code and 15 with one are open. */
interface LoginRates {
  /** Of all clients together, under the key `all`. */
  all: Rate
  network: Rate
  /** With the start code, under the key `all`. */
  withCode: Rate
  /** Wrong start codes, by client. */
  wrongCode: Rate
}

const minuteMs = 60_000

export function createTerminalLogins(now: () => number = () => performance.now()): TerminalLogins {
  const polls = createRate({ atOnce: 1, intervalMs: 1000 }, now)
  return {
    bootId: randomBytes(8).toString('hex'),
    uncollected: new Map(),
    startCode: createStartCode(now),
    rates: {
      all: createRate({ atOnce: 20, intervalMs: minuteMs / 6 }, now),
      network: createRate({ atOnce: 10, intervalMs: minuteMs }, now),
      withCode: createRate({ atOnce: 5, intervalMs: minuteMs }, now),
      wrongCode: createRate({ atOnce: 10, intervalMs: minuteMs / 2 }, now),
    },
    recordPoll(id) {
      if (polls.waitMs(id) > 0) throw new RetryLater('slow_down', 'this terminal polls too often', 2)
      polls.take(id)
    },
  }
}

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

interface StartCode {
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

/** A rate for each key: several at once, then one per interval. */
export interface Rate {
  /** The time until the next one is allowed; 0 if it is allowed now. */
  waitMs(key: string): number
  take(key: string): void
}

/** The keys come from strangers, so only the ones used last are remembered. */
const maxKeys = 10_000

export function createRate(
  { atOnce, intervalMs }: { atOnce: number; intervalMs: number },
  now: () => number = () => performance.now(),
): Rate {
  /** When all of a key are available again. */
  const fullAt = new Map<string, number>()
  const timeUntilFullMs = (key: string) => Math.max(0, (fullAt.get(key) ?? 0) - now())

  return {
    waitMs: (key) => Math.max(0, timeUntilFullMs(key) - (atOnce - 1) * intervalMs),
    take(key) {
      const at = now() + timeUntilFullMs(key) + intervalMs
      fullAt.delete(key)
      fullAt.set(key, at)
      // Maps keep their insertion order.
      if (fullAt.size > maxKeys) fullAt.delete(fullAt.keys().next().value!)
    },
  }
}
