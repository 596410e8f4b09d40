// The limit on failed attempts: after ten within five minutes, further ones are refused until the oldest is
// five minutes old. An attempt is counted before it is checked, so parallel guesses cannot exceed the limit,
// and a crash in between does not forget it.
import type { AttemptRow, GuessTarget, StoredAttempts } from '../../storage/access/attempts.ts'
import { RetryLater } from '../errors.ts'
import { duration } from '../quantities.ts'

export const attemptLimit = 10
export const attemptWindowMs = 5 * 60_000

export function createAttempts(stored: StoredAttempts, now: () => number = Date.now) {
  /** Attempts that are not checked yet. Some of them are already on disk. */
  const pending = new Set<AttemptRow>()
  // A clock that was set back far must not block sign-ins for that long.
  const isOld = ({ atMs }: AttemptRow) => Math.abs(now() - atMs) >= attemptWindowMs

  function check(guessed: GuessTarget): void {
    const open = [...pending].filter((attempt) => attempt.guessed === guessed)
    const marks = new Set(open.map(({ mark }) => mark))
    const failed = stored.list(guessed).filter((attempt) => !isOld(attempt) && !marks.has(attempt.mark))
    if (failed.length >= attemptLimit) throw tooMany(oldest(failed) + attemptWindowMs - now())
    // Those that are not checked yet may be right, and then no longer count.
    if (failed.length + open.length >= attemptLimit) throw tooMany(1000)
  }

  return {
    /** Checks a guess, which counts unless it is correct. Throws `too_many_attempts` before the check. */
    async guess(guessed: GuessTarget, isRight: () => Promise<boolean>): Promise<boolean> {
      check(guessed)
      const attempt = stored.create(guessed, now())
      pending.add(attempt)
      try {
        await stored.record(attempt, isOld)
        if (!(await isRight())) return false
        await stored.withdraw(attempt)
        return true
      } finally {
        pending.delete(attempt)
      }
    },
  }
}

export type Attempts = ReturnType<typeof createAttempts>

function oldest(attempts: readonly AttemptRow[]): number {
  return Math.min(...attempts.map(({ atMs }) => atMs))
}

function tooMany(waitMs: number): RetryLater {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  const message = `too many attempts: further ones are refused for another ${duration(seconds * 1000)}`
  const hint = 'on the server, berthd reset-password sets a new password and ends the wait'
  return new RetryLater('too_many_attempts', message, seconds, hint)
}
