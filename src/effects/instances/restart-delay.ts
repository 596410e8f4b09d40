// How long Docker waits before it starts a crashed container again. Pure. Docker does not report the delay:
// 100 ms, doubled for each run of less than ten seconds, at most a minute.

const firstMs = 100
const longestMs = 60_000
const longRunMs = 10_000

/**
 * The delay after a run of this length. `formerMs` is the delay before that run: 0 when a command started it,
 * null when it is not known. Null when that makes the delay unknown.
 */
export function restartDelay(formerMs: number | null, runMs: number | null): number | null {
  if (runMs !== null && runMs >= longRunMs) return firstMs
  if (formerMs === null) return null
  return formerMs === 0 ? firstMs : Math.min(longestMs, formerMs * 2)
}
