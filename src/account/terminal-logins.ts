// The part of terminal logins that exists only in memory: a restart must drop it.
import { randomBytes } from 'node:crypto'
import { RetryLater } from '../errors.ts'
import { createStartCode, type StartCode } from './codes.ts'
import { createRate, type Rate } from './rate.ts'

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
export interface LoginRates {
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
