// The rows of one table: JSON behind a checksum, because LMDB itself does not notice a flipped bit.
// Mind: what changes rows works inside a commit only (see store.ts).
import { crc32 } from 'node:zlib'
import type { Database, Key } from 'lmdb'
import { StorageError } from './errors.ts'

export interface Table<V> {
  /** null when there is none; throws `row_damaged` when its checksum does not fit. */
  get(key: Key): V | null
  /** Whether there is one, damaged or not. */
  has(key: Key): boolean
  /** Like `get`, for who can go on without it: null for a damaged row too. */
  peek(key: Key): V | null
  /** Only inside a commit. */
  put(key: Key, value: V): void
  /** Only inside a commit. */
  remove(key: Key): void
  range(options?: Range): Iterable<{ key: Key; value: V }>
  /** Like `range`, without the damaged rows. */
  sound(options?: Range): Iterable<{ key: Key; value: V }>
  keys(options?: Range): Iterable<Key>
}

export interface Range {
  start?: Key
  end?: Key
  reverse?: boolean
  /** So many are passed over. */
  offset?: number
  limit?: number
}

/** `damaged` is told of every row that fails its checksum, each time it is read. */
export function openTable<V>(
  database: Database<string, Key>,
  name: string,
  damaged: (message: string) => void,
): Table<V> {
  function decode(text: string, key: Key): V | null {
    const value = decodeRow<V>(text)
    if (value === null) damaged(damageOf(name, key))
    return value
  }
  function decodeSound(text: string, key: Key): V {
    const value = decode(text, key)
    if (value === null) throw new StorageError('row_damaged', damageOf(name, key))
    return value
  }
  return {
    get(key) {
      const text = database.get(key)
      return text === undefined ? null : decodeSound(text, key)
    },
    has: (key) => database.doesExist(key),
    peek(key) {
      const text = database.get(key)
      return text === undefined ? null : decode(text, key)
    },
    put(key, value) {
      database.putSync(key, encodeRow(value))
    },
    remove(key) {
      database.removeSync(key)
    },
    *range(options = {}) {
      for (const { key, value } of database.getRange(options)) yield { key, value: decodeSound(value, key) }
    },
    *sound(options = {}) {
      for (const { key, value: text } of database.getRange(options)) {
        const value = decode(text, key)
        if (value !== null) yield { key, value }
      }
    },
    keys: (options = {}) => database.getKeys(options),
  }
}

function encodeRow(value: unknown): string {
  const json = JSON.stringify(value)
  return crc32(json).toString(16).padStart(8, '0') + json
}

/** null when its checksum does not fit. No row is null itself. */
function decodeRow<V>(text: string): V | null {
  const json = text.slice(8)
  return crc32(json) === Number.parseInt(text.slice(0, 8), 16) ? (JSON.parse(json) as V) : null
}

function damageOf(table: string, key: Key): string {
  return `the row ${JSON.stringify(key)} of table ${table} fails its checksum`
}
