// A value that the whole server hangs on (its schema, its id, the proof of its key): written twice, so that
// one damaged row does not keep it from starting.
import type { Store } from './store.ts'

export interface Twin<V> {
  /** null when it was never put. Throws `row_damaged` when both rows are. */
  get(): V | null
  /** Only inside a commit. */
  put(value: V): void
  /** Writes what is missing or damaged of it; nothing when both rows are sound. */
  keep(value: V): Promise<void>
}

export function openTwin<V>(store: Store, tableName: string, key: string): Twin<V> {
  const table = store.table<V>(tableName)
  const keys = [key, `${key}_copy`]
  const put = (value: V) => keys.forEach((one) => void table.put(one, value))
  return {
    get: () => keys.map((one) => table.peek(one)).find((value) => value !== null) ?? table.get(key),
    put,
    async keep(value) {
      if (keys.some((one) => table.peek(one) === null)) await store.commit(() => put(value))
    },
  }
}
