// The read position in the log of one container, for resuming at exactly the next line. Docker cannot resume
// exactly: with "since the last line" it lost 44 of 20,000 lines, and lines of stdout and stderr can change
// places. So the last lines are requested again and recognized by their timestamps.

export interface LogCursor {
  /** Whether a line of this time (the engine's own, in nanoseconds) is new; it is remembered then. */
  admits(time: string): boolean
  /** The time from which to request lines when the log is opened or reopened; undefined for the whole log. */
  reopen(): string | undefined
  /** The times of the last lines, in their order. */
  times(): string[]
}

/** Far more than may be out of order. */
const maxTimes = 64
/** A line that precedes the oldest stored line may be newer than that line by up to this many lines. */
const swappedLines = 8

/** `times` are those of a stored position; empty for a log that was never read. */
export function createLogCursor(times: readonly string[] = []): LogCursor {
  let newest = [...times]
  let isComplete = newest.length < maxTimes
  /** The lines that come again, while they do; all up to `from` were read. */
  let overlap: { expected: Map<string, number>; from: string; upTo: string } | null = null

  function wasRead(time: string): boolean {
    if (overlap === null) return false
    const count = overlap.expected.get(time) ?? 0
    if (count > 0) overlap.expected.set(time, count - 1)
    if (count > 0 || time <= overlap.from) return true
    // The clock may be set back: after the first new line, all later lines count as new.
    if (time > overlap.upTo) overlap = null
    return false
  }

  function remember(time: string): void {
    newest.push(time)
    if (newest.length < 2 * maxTimes) return
    newest = newest.slice(-maxTimes)
    isComplete = false
  }

  function reopen(): string | undefined {
    const from = isComplete ? '' : newest.slice(0, swappedLines).sort().at(-1)!
    const [since, ...later] = [...newest].sort()
    overlap = { expected: countEach(newest), from, upTo: later.at(-1) ?? since ?? '' }
    return isComplete ? undefined : since
  }

  return {
    admits(time) {
      if (wasRead(time)) return false
      remember(time)
      return true
    },
    reopen,
    times: () => newest.slice(-maxTimes),
  }
}

function countEach(times: string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const time of times) counts.set(time, (counts.get(time) ?? 0) + 1)
  return counts
}
