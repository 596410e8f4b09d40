import type { LimitFunction } from 'p-limit'

/**
 * Runs the work when a turn is free, in the order of the calls. Rejects when aborted while waiting; work that
 * has started keeps its turn until it ends. `onWait` is called with the number of turns if none is free.
 */
export function inTurn<T>(
  turns: LimitFunction,
  signal: AbortSignal,
  work: () => Promise<T>,
  onWait: (running: number) => void = () => undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    if (turns.activeCount >= turns.concurrency) onWait(turns.concurrency)
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort)
    void turns(async () => {
      signal.removeEventListener('abort', onAbort)
      if (!signal.aborted) await work().then(resolve, reject)
    }).catch(reject)
  })
}
