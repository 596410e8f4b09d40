// Which actors read foreign input at this moment, such as a repository. What they read may end the daemon;
// then the next start knows the suspects.
import type { Store } from './store/store.ts'

export interface ForeignRead {
  effect: string
  /** False while a suspect waits for its turn. */
  isReading: boolean
  /** The ends during this read that the daemon caused itself. */
  ends: DaemonEnd[]
}

export interface DaemonEnd {
  id: string
  reason: string
}

export type Suspect = { id: string } & ForeignRead

export function openForeignReads(store: Store) {
  const reads = store.table<ForeignRead>('foreign_reads')
  const storedEndsOf = (id: string) => reads.getOrNull(id)?.ends ?? []

  return {
    begin: (id: string, effect: string) =>
      store.commit(() => reads.put(id, { effect, isReading: true, ends: storedEndsOf(id) })),
    /** The read continues, and counts as harmless so far. */
    acquit: (id: string, effect: string) =>
      store.commit(() => reads.put(id, { effect, isReading: true, ends: [] })),
    /** Unless the actor's next effect reads already. */
    end: (id: string, effect: string) =>
      store.commit(() => {
        if (reads.getOrNull(id)?.effect === effect) reads.remove(id)
      }),

    /**
     * Called at a start, with the last end if the daemon caused it itself; null after any other end.
     * Counts it for each read that it interrupted, and returns the suspects among the active actors.
     */
    countEnd: (end: DaemonEnd | null, isActive: (id: string) => boolean): Promise<Suspect[]> =>
      store.commit(() => {
        const suspects: Suspect[] = []
        for (const { key, value } of [...reads.validRows()]) {
          const id = String(key)
          const read = { ...value, isReading: false, ends: endsWith(value, end) }
          const isSuspect = read.ends.length > 0 && isActive(id)
          if (isSuspect) reads.put(id, read)
          else reads.remove(id)
          if (isSuspect) suspects.push({ id, ...read })
        }
        return suspects
      }),
  }
}

/** An end counts once, also if the start that counted it was interrupted. */
function endsWith({ isReading, ends }: ForeignRead, end: DaemonEnd | null): DaemonEnd[] {
  const counts = end !== null && isReading && ends.every(({ id }) => id !== end.id)
  return counts ? [...ends, end] : ends
}
