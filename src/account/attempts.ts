// The limit on guessing (section 8 of the API document): after ten failed attempts within five minutes there
// is no other until the oldest of them is five minutes old.
// Mind: an attempt counts from before the look at what was guessed, so that guesses at the same time do not
// pass the limit, and a crash in between does not forget it.
import type { AttemptRow, Guessed, StoredAttempts } from '../../storage/attempts.ts'
import { TooSoon } from '../errors.ts'

export const attemptLimit = 10
export const attemptWindowMs = 5 * 60_000

/** One that is under way. */
export interface Attempt {
  /** It was right after all: it does not count. */
  giveBack(): Promise<void>
}

export interface Attempts {
  /** Throws `too_many_attempts`. */
  check(guessed: Guessed): void
  /** Resolves when the attempt is on disk. Throws `too_many_attempts`. */
  begin(guessed: Guessed): Promise<Attempt>
}

export function createAttempts(stored: StoredAttempts, now: () => number = Date.now): Attempts {
  /** Begun, and perhaps not on disk yet. */
  const begun = new Set<AttemptRow>()
  // A clock that was set back must not lock anybody out for longer than that.
  const isOld = ({ atMs }: AttemptRow) => Math.abs(now() - atMs) >= attemptWindowMs

  function check(guessed: Guessed): void {
    const both = [...begun, ...stored.list(guessed)].filter((one) => one.guessed === guessed && !isOld(one))
    const instants = new Map(both.map(({ mark, atMs }) => [mark, atMs]))
    if (instants.size < attemptLimit) return
    throw tooMany(guessed, Math.min(...instants.values()) + attemptWindowMs - now())
  }

  return {
    check,
    async begin(guessed) {
      check(guessed)
      const attempt = stored.make(guessed, now())
      begun.add(attempt)
      try {
        await stored.keep(attempt, isOld)
      } finally {
        begun.delete(attempt)
      }
      return { giveBack: () => stored.takeBack(attempt) }
    },
  }
}

const words: Record<Guessed, string> = {
  sign_in: 'sign-ins',
  setup_code: 'setup codes',
  current_password: 'password changes',
}

const resetHint = 'on the server, berthd reset-password sets a new password and ends the wait'
const hints: Record<Guessed, string> = {
  sign_in: resetHint,
  setup_code: 'the right one is on the server, in its data directory, in setup_code',
  current_password: resetHint,
}

function tooMany(guessed: Guessed, waitMs: number): TooSoon {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  const message = `too many failed attempts: ${words[guessed]} are refused for another ${seconds} s`
  return new TooSoon('too_many_attempts', message, seconds, hints[guessed])
}
