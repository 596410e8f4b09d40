// Flips one bit of a stored row in the store's file, as a failing disk would.
// Only while no daemon has the directory open.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Key } from 'lmdb'
import { rawTables } from '../storage/store-fixtures.ts'

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

/** Flips the lowest bit of the value's last character but one. */
export async function flipOnDisk(directory: string, row: StoredRow): Promise<void> {
  const path = join(directory, 'store/data.mdb')
  const file = readFileSync(path)
  const sought = Buffer.from(row.text)
  const target = sought.length - 2
  // The same bytes occur in other tables and in old copies in free pages; find the current row.
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
