// The change feed: what every commit changed, numbered, in order, with a bounded memory of the last ones.
// It names things and never carries their contents (decisions "Change feed").

export interface Change {
  number: number
  kind: string
  id: string
  service_id: string | null
  /** Null for what has none. */
  status: string | null
  /** Of the record; null for what has none. */
  revision: number | null
}

export interface ChangeFeed {
  /** The number of the newest change, 0 for none. */
  head(): number
  /** The changes after `number`, or null when they are too old (or from another life) to be known. */
  since(number: number): Change[] | null
  /** Calls `listener` after each commit; the answer ends that. */
  subscribe(listener: (change: Change) => void): () => void
}

const remembered = 4096

/** Only the store makes one: it numbers inside the transaction and publishes after it. */
export function createChanges(lastNumber: number) {
  const listeners = new Set<(change: Change) => void>()
  const ring: Change[] = []
  let head = lastNumber
  let oldestKnown = lastNumber

  function numberAll(changes: Change[]): number {
    for (const change of changes) change.number = ++head
    return head
  }

  function publish(changes: Change[]): void {
    for (const change of changes) {
      ring.push(change)
      for (const listener of listeners) tell(listener, change)
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
  return { numberAll, publish, feed }
}

/** A listener that throws is a bug, and ends the process; it must not make a durable commit look failed. */
function tell(listener: (change: Change) => void, change: Change): void {
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
