// How crowded the machine was while something was measured: where tasks queue for a CPU most of the time,
// only ratios and CPU times say something.
import { readFileSync } from 'node:fs'

/**
 * Begins to look. The answer gives the share of the time since then in which some task waited for a CPU; null
 * where the kernel does not count that.
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
