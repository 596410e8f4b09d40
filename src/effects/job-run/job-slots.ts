// Limits the number of job runs on this host: first come, first served. A run holds its slot across several
// effects, and across a restart of the daemon.
import { waitFor } from '../../async/wait-for.ts'

export interface JobSlots {
  /**
   * Resolves when the run has a slot, immediately if it already has one. Rejects when aborted. If it has to
   * wait, `onWait` gets the number of runs that have a slot.
   */
  acquire(id: string, signal: AbortSignal, onWait: (running: number) => void): Promise<void>
  /** For a run that continues after a restart: it has a slot regardless of the limit. */
  reserve(id: string): void
  release(id: string): void
}

export function createJobSlots(count: number): JobSlots {
  const holders = new Set<string>()
  const waiting = new Set<string>()
  const listeners = new Set<() => void>()
  const notify = () => listeners.forEach((listener) => void listener())
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    async acquire(id, signal, onWait) {
      signal.throwIfAborted()
      if (holders.has(id)) return
      if (holders.size < count && waiting.size === 0) return void holders.add(id)
      onWait(holders.size)
      waiting.add(id)
      const look = () => (holders.size < count && waiting.values().next().value === id ? true : null)
      try {
        await waitFor(subscribe, look, signal)
        holders.add(id)
      } finally {
        waiting.delete(id)
        notify()
      }
    },
    reserve: (id) => void holders.add(id),
    release(id) {
      if (holders.delete(id)) notify()
    },
  }
}
