// At most N job runs at a time on this host. A run holds its slot over several effects, and takes it along
// over a restart of the daemon.
// Of a service's own command one run at a time has a slot, whoever was asked for first. Of others who
// wait the service comes first that has the fewest runs: nobody's flood keeps the rest waiting.

export interface JobSlots {
  /**
   * Resolves when the run has a slot; one that has one has it. Rejects when aborted while waiting, of which
   * `onWait` is told how many have one; null when it waits for another run of its service.
   */
  take(run: SlotRun, signal: AbortSignal, onWait: (running: number | null) => void): Promise<void>
  /** For a run that goes on: it has a slot, whoever else has. */
  hold(run: SlotRun): void
  /** Gives it back, also when there is none. */
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

  function giveOut(): void {
    for (;;) {
      const next = nextOf([...waiting].filter(mayBegin), [...holders.values()])
      if (!next) return
      waiting.delete(next)
      holders.set(next.id, next)
      next.begin()
    }
  }

  return {
    async take(run, signal, onWait) {
      signal.throwIfAborted()
      if (holders.has(run.id)) return
      if (mayBegin(run)) return this.hold(run)
      onWait(holders.size < count ? null : holders.size)
      await new Promise<void>((resolve, reject) => {
        const onAbort = () => {
          waiting.delete(own)
          reject(signal.reason)
        }
        const begin = () => {
          signal.removeEventListener('abort', onAbort)
          resolve()
        }
        const own: Waiting = { id: run.id, serviceId: run.serviceId, isOwn: run.isOwn, begin }
        waiting.add(own)
        signal.addEventListener('abort', onAbort)
      })
    },
    hold: ({ id, serviceId, isOwn }) => void holders.set(id, { id, serviceId, isOwn }),
    release(id) {
      if (holders.delete(id)) giveOut()
    },
  }
}

/** Of equals the one that has waited longest. */
function nextOf(waiting: Waiting[], running: SlotRun[]): Waiting | undefined {
  const runsOf = ({ serviceId }: SlotRun) => running.filter((run) => run.serviceId === serviceId).length
  const [first, ...others] = waiting
  return first && others.reduce((best, one) => (runsOf(one) < runsOf(best) ? one : best), first)
}
