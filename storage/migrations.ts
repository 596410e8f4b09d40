// The store's own schema: a number in it, and the steps from each to the next.
// Mind: a store of a newer Berth is refused, because writing old rows into it would lose what they lack.
import { StorageError } from './errors.ts'
import type { Store } from './store.ts'

/** Step n brings a store from schema n to n + 1, inside one commit. */
export type Migration = (store: Store) => void

const migrations: Migration[] = []

/** Brings the store to this version's schema. Throws `store_too_new`. */
export async function migrate(store: Store, steps: Migration[] = migrations): Promise<void> {
  const meta = store.table<number>('meta')
  const current = steps.length + 1
  const found = meta.get('schema')
  if (found !== null && found > current) {
    throw new StorageError(
      'store_too_new',
      `the data directory has schema ${found}, this version of Berth knows up to ${current}`,
    )
  }
  for (let schema = found ?? current; schema < current; schema++) {
    await store.commit(() => {
      steps[schema - 1]!(store)
      meta.put('schema', schema + 1)
    })
  }
  if (found === null) await store.commit(() => meta.put('schema', current))
}
