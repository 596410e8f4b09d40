// A table whose rows are sealed JSON.
import type { Sealer } from './secrets.ts'
import type { Store } from './store/store.ts'

/** `prefix` makes the names of its rows unique among all sealed rows. */
export function openSealedTable<T>(store: Store, sealer: Sealer, table: string, prefix: string) {
  const rows = store.table<string>(table)
  const nameOf = (key: string) => `${prefix}:${key}`
  return {
    get(key: string): T | null {
      const row = rows.get(key)
      return row === null ? null : JSON.parse(sealer.open(row, nameOf(key)))
    },
    keys: (): string[] => [...rows.keys()] as string[],
    /** Only inside a commit. */
    put: (key: string, value: T) => rows.put(key, sealer.seal(JSON.stringify(value), nameOf(key))),
    /** Only inside a commit. */
    remove: (key: string) => rows.remove(key),
  }
}
