// A deadline for a part of an effect.
import { Failure } from '../errors.ts'
import { withLinkedSignal } from './linked-signal.ts'

/** The work gets a signal that ends with the outer one, or after the time: then with `timeout`. */
export function within<T>(
  durationMs: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new Failure('timeout', `it took longer than ${Math.round(durationMs / 1000)} s`)
  const watch = (end: (reason: unknown) => void) => {
    const timer = setTimeout(end, durationMs, late)
    return () => clearTimeout(timer)
  }
  return withLinkedSignal(outer, watch, work)
}
