import { duration } from '../quantities.ts'
import { withLinkedSignal } from './linked-signal.ts'

export class TimeoutError extends Error {
  readonly code = 'timeout'

  constructor(durationMs: number) {
    super(`it took longer than ${duration(durationMs)}`)
  }
}

/** Its signal ends with the outer one, or with `late` after the time. The work must end with its signal. */
export function withTimeout<T>(
  durationMs: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
  late: Error = new TimeoutError(durationMs),
): Promise<T> {
  const watch = (end: (reason: unknown) => void) => {
    const timer = setTimeout(end, durationMs, late)
    return () => clearTimeout(timer)
  }
  return withLinkedSignal(outer, watch, work)
}
