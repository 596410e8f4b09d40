// The CPU contention of the machine during a measurement. Under high contention only ratios and CPU
// times are meaningful.
import { readFileSync } from 'node:fs'

/**
 * Starts a measurement. The result returns the share of the time since then in which some task waited for a
 * CPU, or null if the kernel does not count that.
 */
export function watchCrowding(): () => number | null {
  const before = waitedMs()
  const startedAt = performance.now()
  return () => {
    const after = waitedMs()
    return before === null || after === null ? null : (after - before) / (performance.now() - startedAt)
  }
}

function waitedMs(): number | null {
  try {
    const [, microseconds] = /^some .*total=(\d+)/.exec(readFileSync('/proc/pressure/cpu', 'utf8')) ?? []
    return Number(microseconds) / 1000
  } catch {
    return null
  }
}
