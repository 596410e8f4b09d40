// A deadline for a part of an effect.
// Mind: nothing of it stays on the outer signal, which lives as long as its effect.
import { Failure } from '../errors.ts'

/** The work gets a signal that ends with the outer one, or after the time: then with `timeout`. */
export async function within<T>(
  durationMs: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const onAbort = () => controller.abort(outer.reason)
  const onLate = () =>
    controller.abort(new Failure('timeout', `it took longer than ${Math.round(durationMs / 1000)} s`))
  const timer = setTimeout(onLate, durationMs)
  outer.addEventListener('abort', onAbort)
  if (outer.aborted) onAbort()
  try {
    return await work(controller.signal)
  } catch (error) {
    // Whatever an aborted work throws, this is why.
    controller.signal.throwIfAborted()
    throw error
  } finally {
    clearTimeout(timer)
    outer.removeEventListener('abort', onAbort)
  }
}
