// A rate for each key: several at once, then one per interval. In memory, because a restart may reset it.

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
