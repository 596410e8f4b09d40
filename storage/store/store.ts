// Opens LMDB and names the tables. One commit is one transaction, and nothing outside a commit writes.
// A rejected commit is unknown, not failed; whoever needs to know reads again after a reopening.
import { closeSync, existsSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { settleWithin } from '../../src/async/settle-within.ts'
import { createChanges } from './changes.ts'
import { StorageError } from './errors.ts'
import { openTable, type Table } from './table.ts'
import { type Commit, createCommit } from './transaction.ts'

export type { Table } from './table.ts'
export type { Commit } from './transaction.ts'

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
  /** A commit was refused by the disk: told once, and again with null when one is written. */
  onWriteFailure?: (reason: string | null) => void
  /** A row failed its checksum: told once for each. */
  onDamage?: (message: string) => void
  commitTimeoutMs?: number
}

/**
 * Defaults, never noSync: they lost nothing in 579 crash images, noSync did. maxDbs defaults to 12, and the
 * files are readable to all (lmdb's types do not know `permissionsMode`). Batching by event turn makes a
 * promise of its own that rejects with the commit and that nobody can hear: unheard it ends the process.
 */
const environment = {
  encoding: 'string',
  maxDbs: 64,
  permissionsMode: 0o600,
  eventTurnBatching: false,
} as const

const closeMs = 5000
/** What every file of LMDB has in its first page. */
const lmdbMagic = Buffer.from('dec0efbe', 'hex')
const lmdbMagicOffset = 24

/** Opens, or makes, the environment in `<directory>/store`. */
export function openStore(directory: string, options: StoreOptions): Store {
  const path = join(directory, 'store')
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const root = openOrThrow(path, () => {
    assertLmdbFile(join(path, 'data.mdb'))
    return open({ path, ...environment })
  })
  const damaged = oncePerText(options.onDamage ?? (() => undefined))
  const table = <V>(name: string): Table<V> =>
    openTable(
      openOrThrow(`the table ${name}`, () => root.openDB({ name, encoding: 'string' })),
      name,
      damaged,
    )
  const meta = table<number>('meta')
  const changes = createChanges(lastNumber(meta))
  const { onPanic, commitTimeoutMs: timeoutMs = 10_000 } = options
  const onOutcome = onTransition(options.onWriteFailure ?? (() => undefined))
  return {
    table,
    commit: createCommit({ root, meta, changes, timeoutMs, onPanic, onOutcome }),
    changes: changes.feed,
    // After a failed commit lmdb waits for a flush that never comes.
    close: () => settleWithin(root.close(), closeMs, undefined),
  }
}

/** Where it is damaged a number that no reader can have seen: each is then told to begin anew. */
function lastNumber(meta: Table<number>): number {
  return meta.getOrNull('commit') ?? (meta.has('commit') ? Date.now() : 0)
}

/** Opening a file that is none of its own, lmdb crashes before it could say so. A new one may be empty. */
function assertLmdbFile(path: string): void {
  if (!existsSync(path) || statSync(path).size === 0) return
  const file = openSync(path, 'r')
  try {
    const mark = Buffer.alloc(lmdbMagic.length)
    readSync(file, mark, 0, mark.length, lmdbMagicOffset)
    if (!mark.equals(lmdbMagic)) throw new Error('data.mdb is no store')
  } finally {
    closeSync(file)
  }
}

/** Throws `store_unusable`: a start that fails says what it was about. */
function openOrThrow<T>(what: string, open: () => T): T {
  try {
    return open()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StorageError('store_unusable', `${what} cannot be opened: ${reason}`)
  }
}

/** Hands on whether there is trouble, each time that changes. */
function onTransition(tell: (reason: string | null) => void): (reason: string | null) => void {
  let isTold = false
  return (reason) => {
    if (isTold === (reason !== null)) return
    isTold = reason !== null
    tell(reason)
  }
}

/** Hands on each text once. */
function oncePerText(tell: (text: string) => void): (text: string) => void {
  const told = new Set<string>()
  return (text) => {
    if (!told.has(text)) tell(text)
    told.add(text)
  }
}
