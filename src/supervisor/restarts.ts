// The restart policy: the backoff before an actor restarts from disk, and when it is parked instead.
// It covers only bugs and store failures; charts handle expected failures.

const firstDelayMs = 100
const longestDelayMs = 30_000
const parkAfter = 5
const resetAfterMs = 10 * 60_000

/** Counts the restarts of each actor. Ten minutes without one reset the count, even a stored one. */
export function createRestartPolicy(now: () => number) {
  const startedAt = now()
  const restartsById = new Map<string, { count: number; at: number }>()

  return {
    /** The count including this restart. It continues the recorded count, or else the last one in memory. */
    next(key: string, recorded = restartsById.get(key)?.count ?? 0): number {
      const last = restartsById.get(key)?.at ?? startedAt
      const count = now() - last > resetAfterMs ? 1 : recorded + 1
      restartsById.set(key, { count, at: now() })
      return count
    },
    delayMs: (count: number): number => Math.min(longestDelayMs, firstDelayMs * 2 ** count),
    isTooMany: (count: number): boolean => count > parkAfter,
  }
}
