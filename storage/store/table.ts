// The rows of one table: a checksum and JSON, because LMDB does not detect a flipped bit.
// A strict read throws for a damaged row. The lenient reads (`getOrNull`, `validRows`) are for lists, indexes
// and the restart, where one damaged row must not hide intact ones.
import { crc32 } from 'node:zlib'
import type { Database, Key } from 'lmdb'
import { StorageError } from './errors.ts'

export interface Table<V> {
  /** Null for a missing row. Throws `row_damaged` for a damaged one. */
  get(key: Key): V | null
  /** True for a damaged row too. */
  has(key: Key): boolean
  /** Null for a missing or damaged row. */
  getOrNull(key: Key): V | null
  /** Only inside a commit. */
  put(key: Key, value: V): void
  /** Only inside a commit. */
  remove(key: Key): void
  /** Leaves out damaged rows. */
  validRows(options?: Range): Iterable<{ key: Key; value: V }>
  keys(options?: Range): Iterable<Key>
}

export interface Range {
  start?: Key
  end?: Key
  reverse?: boolean
  /** Number of rows to skip. */
  offset?: number
  limit?: number
}

export interface TableOptions {
  /** Called for each read of a row that fails its checksum. */
  onDamage: (message: string) => void
  /** Called before each read; throws when the store is closed. */
  assertOpen: () => void
}

/** Of a store that is only read. */
export const emptyTable: Table<never> = {
  get: () => null,
  has: () => false,
  getOrNull: () => null,
  put: () => undefined,
  remove: () => undefined,
  validRows: () => [],
  keys: () => [],
}

export function openTable<V>(
  database: Database<string, Key>,
  name: string,
  { onDamage, assertOpen }: TableOptions,
): Table<V> {
  function decode(text: string, key: Key): V | null {
    const value = decodeRow<V>(text)
    if (value === null) onDamage(damageOf(name, key))
    return value
  }
  function read(key: Key): string | undefined {
    assertOpen()
    return database.get(key)
  }
  return {
    get(key) {
      const text = read(key)
      if (text === undefined) return null
      const value = decode(text, key)
      if (value === null) throw new StorageError('row_damaged', damageOf(name, key))
      return value
    },
    has(key) {
      assertOpen()
      return database.doesExist(key)
    },
    getOrNull(key) {
      const text = read(key)
      return text === undefined ? null : decode(text, key)
    },
    put(key, value) {
      database.putSync(key, encodeRow(value))
    },
    remove(key) {
      database.removeSync(key)
    },
    *validRows(options = {}) {
      assertOpen()
      for (const { key, value: text } of database.getRange(options)) {
        const value = decode(text, key)
        if (value !== null) yield { key, value }
      }
    },
    keys(options = {}) {
      assertOpen()
      return database.getKeys(options)
    },
  }
}

function encodeRow(value: unknown): string {
  const json = JSON.stringify(value)
  return crc32(json).toString(16).padStart(8, '0') + json
}

/** Null when the checksum does not match. No row stores null. */
function decodeRow<V>(text: string): V | null {
  const json = text.slice(8)
  return crc32(json) === Number.parseInt(text.slice(0, 8), 16) ? (JSON.parse(json) as V) : null
}

function damageOf(table: string, key: Key): string {
  return `the row ${JSON.stringify(key)} of table ${table} fails its checksum`
}
