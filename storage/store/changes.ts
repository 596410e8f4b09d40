// The change feed: the changes of every commit, numbered and in order. Only the last ones are remembered.
// A change names a record and its transition, and never carries its contents.
import type { ActorTransition } from '../actors/history-entry.ts'

export interface Change {
  number: number
  kind: string
  id: string
  service_id: string | null
  /** Null for a record without a status. */
  status: string | null
  /** The revision of the record; null for a record without revisions. */
  revision: number | null
  /** The cause, if it is a transition of an actor. */
  transition: ActorTransition | null
}

export type NewChange = Omit<Change, 'number' | 'transition'> & Partial<Pick<Change, 'transition'>>

export interface ChangeFeed {
  /** The number of the newest change, 0 for none. */
  head(): number
  /** The changes after `number`. Null when that number is too old, or from another data directory. */
  since(number: number): Change[] | null
  /** Calls `listener` after each commit. Returns the function that unsubscribes. */
  subscribe(listener: (change: Change) => void): () => void
}

const remembered = 4096

/** Used by the store only: it numbers changes inside the transaction and publishes them after it. */
export function createChanges(lastNumber: number) {
  const listeners = new Set<(change: Change) => void>()
  const ring: Change[] = []
  let head = lastNumber
  let oldestKnown = lastNumber

  /** Ends a transaction with so many changes. Returns the number of the newest change. */
  function advance(count: number): number {
    head += count
    return head
  }

  function publish(changes: Change[]): void {
    for (const change of changes) {
      ring.push(change)
      for (const listener of listeners) notify(listener, change)
    }
    // Trimmed in batches: a shift for each change would move the whole ring every time.
    if (ring.length > 2 * remembered) oldestKnown = ring.splice(0, ring.length - remembered).at(-1)!.number
  }

  const feed: ChangeFeed = {
    head: () => ring.at(-1)?.number ?? oldestKnown,
    since(number) {
      if (number < oldestKnown || number > head) return null
      return ring.slice(firstAfter(ring, number))
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  return { head: () => head, advance, publish, feed }
}

/** A listener that throws is a bug and ends the process. It must not make a durable commit look failed. */
function notify(listener: (change: Change) => void, change: Change): void {
  try {
    listener(change)
  } catch (error) {
    setImmediate(() => {
      throw error
    })
  }
}

function firstAfter(ring: Change[], number: number): number {
  const index = ring.findIndex((change) => change.number > number)
  return index < 0 ? ring.length : index
}
