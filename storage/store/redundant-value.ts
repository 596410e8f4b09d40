// A value that the server needs for its start (schema, server id, proof of the key). It is stored in two
// rows, so one damaged row does not prevent the start.
import type { Store } from './store.ts'

export interface RedundantValue<V> {
  /** Null for a value that was never written. Throws `row_damaged` when both rows are damaged. */
  get(): V | null
  /** Only inside a commit. */
  put(value: V): void
  /** Writes both rows again if one is missing or damaged. */
  repair(value: V): Promise<void>
}

export function openRedundantValue<V>(store: Store, tableName: string, key: string): RedundantValue<V> {
  const table = store.table<V>(tableName)
  const keys = [key, `${key}_copy`]
  const put = (value: V) => keys.forEach((one) => void table.put(one, value))
  return {
    get: () => keys.map((one) => table.getOrNull(one)).find((value) => value !== null) ?? table.get(key),
    put,
    async repair(value) {
      if (keys.some((key) => table.getOrNull(key) === null)) await store.commit(() => put(value))
    },
  }
}
