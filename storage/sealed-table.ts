// A table whose rows are sealed JSON.
import type { Sealer } from './secrets.ts'
import type { Store } from './store/store.ts'

/** `prefix` makes the names of its rows unique among all sealed rows. */
export function openSealedTable<T>(store: Store, sealer: Sealer, table: string, prefix: string) {
  const rows = store.table<string>(table)
  const nameOf = (key: string) => `${prefix}:${key}`
  const open = (key: string, row: string): T => JSON.parse(sealer.open(row, nameOf(key)))
  return {
    get(key: string): T | null {
      const row = rows.get(key)
      return row === null ? null : open(key, row)
    },
    has: (key: string): boolean => rows.has(key),
    keys: (): string[] => [...rows.keys()] as string[],
    /** Without damaged rows. */
    list: (): T[] => [...rows.validRows()].map(({ key, value }) => open(String(key), value)),
    /** Only inside a commit. */
    put: (key: string, value: T) => rows.put(key, sealer.seal(JSON.stringify(value), nameOf(key))),
    /** Only inside a commit. */
    remove: (key: string) => rows.remove(key),
  }
}
