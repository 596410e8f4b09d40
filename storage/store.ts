// Opens LMDB and names the tables. One commit is one transaction, and nothing outside a commit writes.
// Mind: a rejected commit is unknown, not failed; whoever needs to know reads again after a reopening.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type Database, type Key, open } from 'lmdb'
import { type Change, createChanges } from './changes.ts'
import { StorageError } from './errors.ts'

/** Rows of one kind: JSON behind a checksum, because LMDB itself does not notice a flipped bit. */
export interface Table<V> {
  /** null when there is none; throws `row_damaged` when its checksum does not fit. */
  get(key: Key): V | null
  /** Only inside a commit. */
  put(key: Key, value: V): void
  /** Only inside a commit. */
  remove(key: Key): void
  range(options?: {
    start?: Key
    end?: Key
    reverse?: boolean
    limit?: number
  }): Iterable<{ key: Key; value: V }>
  keys(options?: { start?: Key; end?: Key; reverse?: boolean; limit?: number }): Iterable<Key>
}

/** What a commit may do besides writing: tell the change feed. */
export interface Commit {
  announce(change: Omit<Change, 'number'>): void
}

export interface Store {
  table<V>(name: string): Table<V>
  /**
   * Runs `write` in one transaction and resolves once it is durable. What `write` throws rolls everything
   * back and is thrown as it is; a store that cannot write throws `commit_failed`.
   */
  commit<T>(write: (commit: Commit) => T): Promise<T>
  changes: ReturnType<typeof createChanges>['feed']
  close(): Promise<void>
}

export interface StoreOptions {
  /** The environment no longer answers: the process must end and be started again (see `commit`). */
  onPanic: (reason: string) => void
  commitTimeoutMs?: number
}

/**
 * Defaults, never noSync: they lost nothing in 579 crash images, noSync did. maxDbs defaults to 12, and the
 * files are readable to all (lmdb's types do not know `permissionsMode`).
 */
const environment = { encoding: 'string', maxDbs: 32, permissionsMode: 0o600 } as const

/** Opens, or makes, the environment in `<directory>/store`. */
export function openStore(directory: string, options: StoreOptions): Store {
  const path = join(directory, 'store')
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const root = open({ path, ...environment })
  const meta = openTable<number>(root, 'meta')
  const changes = createChanges(meta.get('commit') ?? 0)
  const timeoutMs = options.commitTimeoutMs ?? 10_000

  async function commit<T>(write: (commit: Commit) => T): Promise<T> {
    const announced: Change[] = []
    let refused: { error: unknown } | null = null
    const durable = root.childTransaction(() => {
      try {
        const result = write({ announce: (change) => announced.push({ number: 0, ...change }) })
        if (announced.length > 0) meta.put('commit', changes.numberAll(announced))
        return result
      } catch (error) {
        refused = { error }
        throw error
      }
    })
    try {
      const result = await withinDeadline(durable, timeoutMs, options.onPanic)
      changes.publish(announced)
      return result
    } catch (error) {
      if (refused) throw (refused as { error: unknown }).error
      throw commitFailure(error)
    }
  }

  return {
    table: (name) => openTable(root, name),
    commit,
    changes: changes.feed,
    close: () => root.close(),
  }
}

function openTable<V>(root: ReturnType<typeof open>, name: string): Table<V> {
  const database: Database<string, Key> = root.openDB({ name, encoding: 'string' })
  return {
    get(key) {
      const text = database.get(key)
      return text === undefined ? null : decodeRow<V>(text, name, key)
    },
    put(key, value) {
      database.putSync(key, encodeRow(value))
    },
    remove(key) {
      database.removeSync(key)
    },
    *range(options = {}) {
      for (const { key, value } of database.getRange(options)) {
        yield { key, value: decodeRow<V>(value, name, key) }
      }
    },
    keys: (options = {}) => database.getKeys(options),
  }
}

function encodeRow(value: unknown): string {
  const json = JSON.stringify(value)
  return crc32(json).toString(16).padStart(8, '0') + json
}

function decodeRow<V>(text: string, table: string, key: Key): V {
  const json = text.slice(8)
  if (crc32(json) !== Number.parseInt(text.slice(0, 8), 16)) {
    throw new StorageError(
      'row_damaged',
      `the row ${JSON.stringify(key)} of table ${table} fails its checksum`,
    )
  }
  return JSON.parse(json) as V
}

/** A meta page that could not be written leaves LMDB silent for ever: only a deadline notices. */
async function withinDeadline<T>(work: Promise<T>, timeoutMs: number, onPanic: (reason: string) => void) {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const reason = `the store did not finish a commit within ${timeoutMs / 1000} s`
      onPanic(reason)
      reject(new StorageError('commit_failed', reason))
    }, timeoutMs)
  })
  try {
    return await Promise.race([work, expired])
  } finally {
    clearTimeout(timer)
  }
}

function commitFailure(error: unknown): StorageError {
  if (error instanceof StorageError) return error
  const cause = (error as { commitError?: Promise<unknown> }).commitError
  // lmdb-js rejects this second promise as well; unheard it would end the process.
  cause?.catch(() => undefined)
  const text = error instanceof Error ? error.message : String(error)
  return new StorageError('commit_failed', `the store could not write: ${text}`)
}
