// The ids of events that were applied, with the first answer: a repeated request finds it and changes
// nothing.
// `keep` belongs into the transaction of the event itself, or a crash in between would apply it twice.
// An id may be `KEY#ASKED`: it is found by its key, and what was asked under the key is kept with the answer.
import type { Store } from './store/store.ts'

export interface StoredAnswer {
  at: string
  body: unknown
  /** Left out for an id that says nothing of it. */
  asked?: string
}

/** Kept for a day (decisions "Conventions", Idempotency-Key). */
export const eventLifetimeMs = 24 * 60 * 60 * 1000

export function openEvents(store: Store) {
  const answers = store.table<StoredAnswer>('events')
  const byTime = store.table<1>('events_by_time')

  /** Only inside a commit. */
  function keep(id: string, at: string, body: unknown): void {
    const [key, asked] = partsOf(id)
    answers.put(key, { at, body, ...(asked === undefined ? {} : { asked }) })
    byTime.put([at, key], 1)
  }

  return {
    get: (id: string) => answers.get(partsOf(id)[0]),
    keep,
    /** For a request that found what it asked for: a repetition has to find the same. */
    record: (id: string, at: string, body: unknown) => store.commit(() => keep(id, at, body)),
    /** Forgets what was applied before `at`, a thousand at a time so that no commit is long. */
    async forgetBefore(at: string): Promise<void> {
      const expired = () => [...byTime.keys({ end: [at, ''], limit: 1000 })] as string[][]
      for (let batch = expired(); batch.length > 0; batch = expired()) {
        await store.commit(() => {
          for (const key of batch) {
            byTime.remove(key)
            answers.remove(key[1]!)
          }
        })
      }
    },
  }
}

function partsOf(id: string): [key: string, asked?: string] {
  const end = id.indexOf('#')
  return end < 0 ? [id] : [id.slice(0, end), id.slice(end + 1)]
}

export type StoredEvents = ReturnType<typeof openEvents>
