// Ids of applied events with the first response, so that a repeated request gets it and changes nothing.
// `keep` must run in the transaction of the event: after a crash in between, the event would be applied
// twice. An id may be `KEY#REQUEST`: it is found by the key, and REQUEST is stored with the response.
import type { Store } from './store/store.ts'

export interface StoredResponse {
  at: string
  body: unknown
  /** The REQUEST part of the id; missing for an id without one. */
  asked?: string
}

/** How long the response to an Idempotency-Key is stored. */
export const eventLifetimeMs = 24 * 60 * 60 * 1000

/** A response has up to some kilobytes. */
const maxEvents = 100_000

export function openEvents(store: Store) {
  const responses = store.table<StoredResponse>('events')
  const byTime = store.table<1>('events_by_time')

  /** Only inside a commit. */
  function keep(id: string, at: string, body: unknown): void {
    const [key, asked] = partsOf(id)
    responses.put(key, { at, body, ...(asked === undefined ? {} : { asked }) })
    byTime.put([at, key], 1)
  }

  return {
    get: (id: string) => responses.get(partsOf(id)[0]),
    keep,
    /** For a request that changes nothing itself: a repetition must get the same response. */
    record: (id: string, at: string, body: unknown) => store.commit(() => keep(id, at, body)),
    /** Deletes the events that were applied before `at`, a thousand per commit to keep commits short. */
    async forgetBefore(at: string): Promise<void> {
      const expired = () => [...byTime.keys({ end: [at, ''], limit: 1000 })] as string[][]
      for (let batch = expired(); batch.length > 0; batch = expired()) {
        await store.commit(() => {
          for (const key of batch) {
            byTime.remove(key)
            responses.remove(key[1]!)
          }
        })
      }
    },
    /** Deletes the oldest beyond a number: callers choose the ids, and may send many. */
    async forgetSurplus(retained = maxEvents): Promise<void> {
      const [newest] = byTime.keys({ reverse: true, offset: retained, limit: 1 }) as Iterable<string[]>
      if (newest) await this.forgetBefore(`${newest[0]}~`)
    },
  }
}

function partsOf(id: string): [key: string, asked?: string] {
  const end = id.indexOf('#')
  return end < 0 ? [id] : [id.slice(0, end), id.slice(end + 1)]
}

export type StoredEvents = ReturnType<typeof openEvents>
