/**
 * Runs the work with a signal that ends with the outer one, or earlier: `watch` gets the function that ends
 * it, and returns the one that stops watching. No listener stays on the outer signal, which may live long.
 */
export async function withLinkedSignal<T>(
  outer: AbortSignal | undefined,
  watch: (end: (reason: unknown) => void) => () => void,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const onAbort = () => controller.abort(outer?.reason)
  outer?.addEventListener('abort', onAbort)
  if (outer?.aborted) onAbort()
  let stopWatching = () => {}
  try {
    stopWatching = watch((reason) => controller.abort(reason))
    return await work(controller.signal)
  } catch (error) {
    // Aborted work may throw any error. The reason of the abort is the cause.
    controller.signal.throwIfAborted()
    throw error
  } finally {
    stopWatching()
    outer?.removeEventListener('abort', onAbort)
  }
}
