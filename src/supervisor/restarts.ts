// The restart policy: how long an actor waits after a bug before it goes on from disk, and when it is parked.
// This is for bugs and broken stores only; what a business failure means is said by the chart.

const firstDelayMs = 100
const longestDelayMs = 30_000
const parkAfter = 5
const quietMs = 10 * 60_000

/** Counts the restarts of each actor; ten quiet minutes forget them, also those of an earlier daemon. */
export function createRestarts(now: () => number) {
  const startedAt = now()
  const known = new Map<string, { count: number; at: number }>()

  return {
    /** The count that this restart makes, from the one on record; where none is kept, from the last one. */
    next(key: string, recorded = known.get(key)?.count ?? 0): number {
      const last = known.get(key)?.at ?? startedAt
      const count = now() - last > quietMs ? 1 : recorded + 1
      known.set(key, { count, at: now() })
      return count
    },
    delayMs: (count: number): number => Math.min(longestDelayMs, firstDelayMs * 2 ** count),
    isTooMany: (count: number): boolean => count > parkAfter,
  }
}
