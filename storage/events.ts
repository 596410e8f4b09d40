// The ids of events that were applied, with the first answer: a repeated request finds it and changes
// nothing.
// Mind: `keep` belongs into the transaction of the event itself, or a crash in between would apply it twice.
import type { Store } from './store.ts'

export interface StoredAnswer {
  at: string
  body: unknown
}

/** Kept for a day (decisions "Conventions", Idempotency-Key). */
export const eventLifetimeMs = 24 * 60 * 60 * 1000

export function openEvents(store: Store) {
  const answers = store.table<StoredAnswer>('events')
  const byTime = store.table<1>('events_by_time')

  /** Only inside a commit. */
  function keep(key: string, at: string, body: unknown): void {
    answers.put(key, { at, body })
    byTime.put([at, key], 1)
  }

  return {
    get: (key: string) => answers.get(key),
    keep,
    /** For a request that found what it asked for: a repetition has to find the same. */
    record: (key: string, at: string, body: unknown) => store.commit(() => keep(key, at, body)),
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

export type StoredEvents = ReturnType<typeof openEvents>
