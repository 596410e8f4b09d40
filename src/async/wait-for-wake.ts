/**
 * Resolves when the listener that `listen` gets is called, or after the time. Rejects with the signal's
 * reason. No listener stays on the signal: a live deploy waits like this for years.
 */
export async function waitForWake(
  listen: (listener: () => void) => void,
  withinMs: number,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  let wake = () => {}
  const woken = new Promise<void>((resolve) => {
    wake = resolve
  })
  const timer = setTimeout(wake, withinMs)
  signal.addEventListener('abort', wake)
  listen(wake)
  await woken
  clearTimeout(timer)
  signal.removeEventListener('abort', wake)
  signal.throwIfAborted()
}
