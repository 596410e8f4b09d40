// Limits the number of job runs on this host. A run holds its slot across several effects, and across a
// restart of the daemon. Only one run of a service's own command has a slot at a time. Otherwise the service
// with the fewest runs comes first, so a service with many runs cannot block the others.

export interface JobSlots {
  /**
   * Resolves when the run has a slot, immediately if it already has one. Rejects when aborted. While the
   * run waits, `onWait` gets the number of runs that have a slot, or null if it waits for another run
   * of its service.
   */
  acquire(run: SlotRun, signal: AbortSignal, onWait: (running: number | null) => void): Promise<void>
  /** For a run that continues after a restart: it has a slot regardless of the limit. */
  reserve(run: SlotRun): void
  release(id: string): void
}

export interface SlotRun {
  id: string
  serviceId: string
  isOwn: boolean
}

interface Waiting extends SlotRun {
  begin: () => void
}

export function createJobSlots(count: number): JobSlots {
  const holders = new Map<string, SlotRun>()
  const waiting = new Set<Waiting>()

  const isAlone = ({ serviceId, isOwn }: SlotRun) =>
    !isOwn || ![...holders.values()].some((holder) => holder.isOwn && holder.serviceId === serviceId)
  const mayBegin = (run: SlotRun) => holders.size < count && isAlone(run)

  function assignFreeSlots(): void {
    for (;;) {
      const next = nextOf([...waiting].filter(mayBegin), [...holders.values()])
      if (!next) return
      waiting.delete(next)
      holders.set(next.id, next)
      next.begin()
    }
  }

  return {
    async acquire(run, signal, onWait) {
      signal.throwIfAborted()
      if (holders.has(run.id)) return
      if (mayBegin(run)) return this.reserve(run)
      onWait(holders.size < count ? null : holders.size)
      await new Promise<void>((resolve, reject) => {
        const onAbort = () => {
          waiting.delete(waiter)
          reject(signal.reason)
        }
        const begin = () => {
          signal.removeEventListener('abort', onAbort)
          resolve()
        }
        const waiter: Waiting = { id: run.id, serviceId: run.serviceId, isOwn: run.isOwn, begin }
        waiting.add(waiter)
        signal.addEventListener('abort', onAbort)
      })
    },
    reserve: ({ id, serviceId, isOwn }) => void holders.set(id, { id, serviceId, isOwn }),
    release(id) {
      if (holders.delete(id)) assignFreeSlots()
    },
  }
}

/** Among equals, the run that has waited longest. */
function nextOf(waiting: Waiting[], running: SlotRun[]): Waiting | undefined {
  const runsOf = ({ serviceId }: SlotRun) => running.filter((run) => run.serviceId === serviceId).length
  const [first, ...others] = waiting
  return first && others.reduce((best, waiter) => (runsOf(waiter) < runsOf(best) ? waiter : best), first)
}
