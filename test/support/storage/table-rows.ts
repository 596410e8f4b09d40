// Every row of a table, read strictly: a damaged row fails the test.
import type { Key } from 'lmdb'
import type { Table } from '../../../storage/store/table.ts'

export function rowsOf<V>(table: Table<V>): { key: Key; value: V }[] {
  return [...table.keys()].map((key) => ({ key, value: table.get(key)! }))
}
