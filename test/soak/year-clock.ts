// A clock that runs ahead of the real one. Everything in this process reads the time from `Date.now`, and
// durations from `performance.now`.

export interface YearClock {
  advance(durationMs: number): void
  /** Resolves once that time has come. */
  until(atMs: number, signal: AbortSignal): Promise<void>
  /** The real time since the clock was started. */
  realMs(): number
  restore(): void
}

export function startYearClock(): YearClock {
  const now = Date.now
  const duration = performance.now.bind(performance)
  const startedAt = duration()
  const waiting = new Set<() => void>()
  let aheadMs = 0
  Date.now = () => now() + aheadMs
  performance.now = () => duration() + aheadMs
  return {
    advance(durationMs) {
      aheadMs += durationMs
      for (const look of [...waiting]) look()
    },
    until: (atMs, signal) =>
      new Promise((resolve, reject) => {
        const end = () => {
          waiting.delete(look)
          signal.removeEventListener('abort', abort)
        }
        const look = () => {
          if (Date.now() < atMs) return
          end()
          resolve()
        }
        const abort = () => {
          end()
          reject(signal.reason)
        }
        waiting.add(look)
        signal.addEventListener('abort', abort)
        look()
      }),
    realMs: () => duration() - startedAt,
    restore: () => {
      Date.now = now
      performance.now = duration
    },
  }
}
