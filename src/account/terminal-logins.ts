// The part of terminal logins that exists only in memory: a restart must drop it.
import { randomBytes } from 'node:crypto'
import pLimit from 'p-limit'
import { RetryLater } from '../errors.ts'

const minPollIntervalMs = 1000
const maxTrackedPolls = 1000

export interface TerminalLogins {
  /** Identifies this run of the daemon: logins of earlier runs are expired. */
  readonly bootId: string
  /** Tokens of approved logins, by the login's id, until they are collected. */
  readonly uncollected: Map<string, string>
  /** Addresses of logins that are being created and are in no index yet, by id. */
  readonly starting: Map<string, string>
  /** Serializes evictions: two concurrent ones would end the same request. */
  serialize(work: () => Promise<void>): Promise<void>
  /** Throws `slow_down` if the terminal polls too often. */
  recordPoll(id: string): void
}

export function createTerminalLogins(now: () => number = () => performance.now()): TerminalLogins {
  const polls = new Map<string, number>()
  return {
    bootId: randomBytes(8).toString('hex'),
    uncollected: new Map(),
    starting: new Map(),
    serialize: pLimit(1),
    recordPoll(id) {
      const last = polls.get(id) ?? Number.NEGATIVE_INFINITY
      if (now() - last < minPollIntervalMs) {
        throw new RetryLater('slow_down', 'this terminal polls too often', 2)
      }
      polls.delete(id)
      polls.set(id, now())
      // The oldest first: maps keep their insertion order.
      if (polls.size > maxTrackedPolls) polls.delete(polls.keys().next().value!)
    },
  }
}
