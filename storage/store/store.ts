// Opens LMDB and its tables. One commit is one transaction, and every write happens in a commit.
// The outcome of a rejected commit is unknown: callers that need it read again after the store is reopened.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { settleWhileRunning } from '../../src/async/settle-while-running.ts'
import { settleWithin } from '../../src/async/settle-within.ts'
import { duration } from '../../src/quantities.ts'
import { type Change, createChanges, type NewChange } from './changes.ts'
import { StorageError } from './errors.ts'
import { emptyTable, openTable, type Table } from './table.ts'

export type { Table } from './table.ts'

export interface Store {
  table<V>(name: string): Table<V>
  /**
   * Runs `write` in one transaction and resolves once it is durable. An error of `write` rolls everything
   * back and is rethrown unchanged. Throws `commit_failed` if the store cannot write, and `store_closed`
   * once it closes.
   */
  commit<T>(write: (commit: Commit) => T): Promise<T>
  changes: ReturnType<typeof createChanges>['feed']
  /** Copies one committed state into `<folder>/data.mdb`, in a read transaction and outside this thread. */
  copyTo(folder: string): Promise<void>
  /** `map` is the size of its file, `used` about what of it holds data. */
  usedBytes(): { used: number; map: number }
  /** Waits for pending commits. Later reads throw `store_closed`. */
  close(): Promise<void>
}

export interface StoreOptions {
  /** The environment is unusable: the process must exit and be restarted (see `commit`). */
  onPanic: (reason: string) => void
  /** Called with the reason when commits start to fail, and with null when a commit succeeds again. */
  onWriteFailure?: (reason: string | null) => void
  /** Called once for each row that fails its checksum. */
  onDamage?: (message: string) => void
  commitTimeoutMs?: number
  /** For a look at a store that a daemon may have open: creates nothing, and a missing table is empty. */
  isReadOnly?: boolean
}

/**
 * No noSync: it lost data in crash tests, the default lost nothing in 579 crash images. By default maxDbs is
 * 12 and all users can read the files (lmdb's types lack `permissionsMode`). `eventTurnBatching` creates an
 * internal promise that rejects with the commit; no caller can handle it, and it would end the process.
 */
const environment = {
  encoding: 'string',
  maxDbs: 64,
  permissionsMode: 0o600,
  eventTurnBatching: false,
} as const

const closeMs = 5000
/** Every LMDB file has it in its first page. */
const lmdbMagic = Buffer.from('dec0efbe', 'hex')
const lmdbMagicOffset = 24

/** Opens or creates the environment in `<directory>/store`. */
export function openStore(directory: string, options: StoreOptions): Store {
  const path = join(directory, 'store')
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const root = openOrThrow(path, () => {
    assertLmdbFile(join(path, 'data.mdb'))
    return open({ path, ...environment, readOnly: options.isReadOnly === true })
  })
  let isClosing = false
  let isClosed = false
  // A read of lmdb while it closes, or after, crashes the process.
  const tableOptions = {
    onDamage: oncePerText(options.onDamage ?? (() => undefined)),
    assertOpen() {
      if (isClosed) throw closedError()
    },
  }
  const table = <V>(name: string): Table<V> => {
    const database = openOrThrow(`the table ${name}`, () => root.openDB({ name, encoding: 'string' }))
    return database ? openTable(database, name, tableOptions) : emptyTable
  }
  const meta = table<number>('meta')
  const changes = createChanges(lastNumber(meta))
  const { onPanic, commitTimeoutMs: timeoutMs = 10_000 } = options
  const onOutcome = onTransition(options.onWriteFailure ?? (() => undefined))
  const run = createCommit({ root, meta, changes, timeoutMs, onPanic, onOutcome })
  const pending = new Set<Promise<unknown>>()
  return {
    table,
    async commit(write) {
      if (isClosing) throw closedError()
      const commit = run(write)
      pending.add(commit)
      return commit.finally(() => pending.delete(commit))
    },
    changes: changes.feed,
    async copyTo(folder) {
      if (isClosing) throw closedError()
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      // Compacted: free pages may still contain what was deleted.
      const copying = root.backup(folder, true)
      pending.add(copying)
      await copying.finally(() => pending.delete(copying))
      chmodSync(join(folder, 'data.mdb'), 0o600)
    },
    usedBytes: () => usedBytes(root),
    async close() {
      isClosing = true
      await settleWithin(Promise.allSettled(pending), closeMs, undefined)
      isClosed = true
      // After a failed commit lmdb waits for a flush that never comes.
      await settleWithin(root.close(), closeMs, undefined)
    },
  }
}

interface Pages {
  pageSize: number
  lastPageNumber: number
  free: { overflowPages: number }
}

/** A free page is known by a number in a list, and only long lists count. */
const pageNumberBytes = 8

function usedBytes(root: RootDatabase): { used: number; map: number } {
  const { pageSize, lastPageNumber, free } = root.getStats() as unknown as Pages
  const map = (lastPageNumber + 1) * pageSize
  const freePages = (free.overflowPages * pageSize) / pageNumberBytes
  return { used: Math.max(0, map - freePages * pageSize), map }
}

/** A damaged number is replaced by one that no reader has seen, so that every reader starts over. */
function lastNumber(meta: Table<number>): number {
  return meta.getOrNull('commit') ?? (meta.has('commit') ? Date.now() : 0)
}

/** lmdb crashes, without an error, on a file that is not LMDB's. The file of a new store may be empty. */
function assertLmdbFile(path: string): void {
  if (!existsSync(path) || statSync(path).size === 0) return
  const file = openSync(path, 'r')
  try {
    const mark = Buffer.alloc(lmdbMagic.length)
    readSync(file, mark, 0, mark.length, lmdbMagicOffset)
    if (!mark.equals(lmdbMagic)) throw new Error('data.mdb is not an LMDB file')
  } finally {
    closeSync(file)
  }
}

function closedError(): StorageError {
  return new StorageError('store_closed', 'the store is closed')
}

/** Throws `store_unusable`, with the name of what could not be opened. */
function openOrThrow<T>(what: string, open: () => T): T {
  try {
    return open()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StorageError('store_unusable', `${what} cannot be opened: ${reason}`)
  }
}

/** Calls back on every transition between healthy (null) and failing. */
function onTransition(callback: (reason: string | null) => void): (reason: string | null) => void {
  let isFailing = false
  return (reason) => {
    if (isFailing === (reason !== null)) return
    isFailing = reason !== null
    callback(reason)
  }
}

function oncePerText(callback: (text: string) => void): (text: string) => void {
  const seen = new Set<string>()
  return (text) => {
    if (!seen.has(text)) callback(text)
    seen.add(text)
  }
}

/** The part of the change feed that is open to a commit. */
export interface Commit {
  /** Returns the number of the change. */
  announce(change: NewChange): number
  hasAnnounced(kind: string, id: string): boolean
}

interface TransactionParts {
  root: RootDatabase
  /** Stores the number of the newest change. */
  meta: Table<number>
  changes: ReturnType<typeof createChanges>
  timeoutMs: number
  onPanic: (reason: string) => void
  /** Called after each commit: with the reason of a failure, or with null. */
  onOutcome: (reason: string | null) => void
}

/** lmdb gives the reason only after the failure; this is how long to wait for it. */
const reasonMs = 1000

function createCommit(parts: TransactionParts) {
  const { root, meta, changes, onPanic, onOutcome } = parts
  return async <T>(write: (commit: Commit) => T): Promise<T> => {
    const announced: Change[] = []
    const refusals: unknown[] = []
    let id = Number.POSITIVE_INFINITY
    const durable = root.childTransaction(() => {
      id = root.getWriteTxnId()
      try {
        const result = write({
          announce(change) {
            const number = changes.head() + announced.length + 1
            announced.push({ number, transition: null, ...change })
            return number
          },
          hasAnnounced: (kind, id) => announced.some((change) => change.kind === kind && change.id === id),
        })
        if (announced.length > 0) meta.put('commit', changes.advance(announced.length))
        return result
      } catch (error) {
        refusals.push(error)
        throw error
      }
    })
    try {
      const result = await withinDeadline(durable, parts)
      // lmdb reports no failure of the last write of a commit, but reads throw from then on.
      meta.getOrNull('commit')
      onOutcome(null)
      changes.publish(announced)
      return result
    } catch (error) {
      if (error instanceof StorageError || refusals.includes(error)) throw error
      const panic = panicReason(root, id)
      const reason = await readReason(error)
      if (panic !== null) onPanic(`${panic}: ${reason}`)
      onOutcome(reason)
      throw new StorageError('commit_failed', `the store could not write: ${reason}`)
    }
  }
}

/** After a failed write LMDB may never settle the commit. Only a deadline detects that. */
async function withinDeadline<T>(work: Promise<T>, { timeoutMs, onPanic }: TransactionParts): Promise<T> {
  const expired = Symbol()
  const result = await settleWhileRunning(work, timeoutMs, expired)
  if (result !== expired) return result as T
  const reason = `the store did not finish a commit within ${duration(timeoutMs)}`
  onPanic(reason)
  throw new StorageError('commit_failed', reason)
}

/** The reason why LMDB is no longer reliable; null after a failure that changed nothing. */
function panicReason(root: RootDatabase, id: number): string | null {
  try {
    const { lastTxnId } = root.getStats() as { lastTxnId: number }
    // Readers see the commit, but it was not flushed: the kernel drops such pages, and the next flush
    // succeeds without them.
    return lastTxnId >= id ? 'the store shows data that the disk did not store' : null
  } catch {
    return 'the store is in panic'
  }
}

/** The system error. lmdb attaches it to the error as a promise, which would end the process if unhandled. */
async function readReason(error: unknown): Promise<string> {
  const { commitError } = error as { commitError?: Promise<never> }
  const cause = commitError?.catch((systemError: unknown) => systemError)
  const reason = await settleWithin(cause ?? Promise.resolve(error), reasonMs, error)
  // After the colon follow sizes and positions.
  return reason instanceof Error ? reason.message.split(': ')[0]! : String(reason)
}
