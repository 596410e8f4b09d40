// Hands values from several writers to one reader. A writer waits while the reader is behind.

export interface Channel<T> extends AsyncIterable<T> {
  /** Resolves when there is room again. */
  put(value: T): Promise<void>
}

const capacityValues = 256

/** Ends, for reader and writers, with the signal. */
export function createChannel<T>(signal: AbortSignal): Channel<T> {
  const values: T[] = []
  let wakeReader = () => {}
  const wakeWriters: (() => void)[] = []

  const wakeAll = () => {
    wakeReader()
    for (const wake of wakeWriters.splice(0)) wake()
  }
  signal.addEventListener('abort', wakeAll, { once: true })

  return {
    async put(value) {
      while (values.length >= capacityValues && !signal.aborted) {
        await new Promise<void>((resolve) => wakeWriters.push(resolve))
      }
      if (signal.aborted) return
      values.push(value)
      wakeReader()
    },
    async *[Symbol.asyncIterator]() {
      while (!signal.aborted) {
        if (values.length > 0) yield values.shift()!
        else
          await new Promise<void>((resolve) => {
            wakeReader = resolve
          })
        if (values.length < capacityValues) for (const wake of wakeWriters.splice(0)) wake()
      }
    },
  }
}
