/** Resolves with the first non-null result of `look`, called now and after each notification. */
export async function waitFor<T>(
  subscribe: (listener: () => void) => () => void,
  look: () => T | null,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted()
  const found = look()
  if (found !== null) return found
  return new Promise<T>((resolve, reject) => {
    const unsubscribe = subscribe(() => {
      try {
        const found = look()
        if (found !== null) settle(() => resolve(found))
      } catch (error) {
        settle(() => reject(error))
      }
    })
    const onAbort = () => settle(() => reject(signal.reason))
    const settle = (outcome: () => void) => {
      unsubscribe()
      signal.removeEventListener('abort', onAbort)
      outcome()
    }
    signal.addEventListener('abort', onAbort)
  })
}
