// One flipped bit in a stored row, in the store's file itself, as a failing disk makes it.
// Only while no daemon has the directory open.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Key } from 'lmdb'
import { rawTables } from './store-fixtures.ts'

export interface StoredRow {
  table: string
  key: Key
  /** Checksum and JSON. */
  text: string
}

/** Every row of every table. */
export async function storedRows(directory: string): Promise<StoredRow[]> {
  const tables = Object.entries(await rawTables(directory))
  return tables.flatMap(([table, rows]) => rows.map(([key, text]) => ({ table, key: key as Key, text })))
}

/** Flips the lowest bit of the last character but one of the value, or of the last one of the key. */
export async function flipOnDisk(directory: string, row: StoredRow, part: 'value' | 'key'): Promise<void> {
  const path = join(directory, 'store/data.mdb')
  const file = readFileSync(path)
  const sought = Buffer.from(part === 'key' ? [row.key].flat().join('\0') : row.text)
  const target = sought.length - (part === 'key' ? 1 : 2)
  // The same bytes are in other tables, and in older copies in free pages: only the row itself counts.
  for (let at = file.indexOf(sought); at >= 0; at = file.indexOf(sought, at + 1)) {
    file[at + target]! ^= 1
    writeFileSync(path, file)
    if (!(await isStored(directory, row))) return
    file[at + target]! ^= 1
  }
  throw new Error(`the row ${String(row.key)} of ${row.table} is not in ${path}`)
}

async function isStored(directory: string, { table, key, text }: StoredRow): Promise<boolean> {
  const rows = await storedRows(directory)
  return rows.some((row) => row.table === table && String(row.key) === String(key) && row.text === text)
}
