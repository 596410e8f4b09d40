// Work whose signal ends with an outer one, or sooner.
// Mind: nothing of it stays on the outer signal, which may live for years.

/** `watch` gets what ends the signal, with the reason, and answers how to stop watching. */
export async function withLinkedSignal<T>(
  outer: AbortSignal,
  watch: (end: (reason: unknown) => void) => () => void,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const onAbort = () => controller.abort(outer.reason)
  outer.addEventListener('abort', onAbort)
  if (outer.aborted) onAbort()
  let stopWatching = () => {}
  try {
    stopWatching = watch((reason) => controller.abort(reason))
    return await work(controller.signal)
  } catch (error) {
    // Whatever an aborted work throws, this is why.
    controller.signal.throwIfAborted()
    throw error
  } finally {
    stopWatching()
    outer.removeEventListener('abort', onAbort)
  }
}
