// Runs one commit as an LMDB transaction, which LMDB may group with others. It is durable when it resolves.
// The outcome of a rejected commit is unknown. `onPanic` reports failures after which LMDB is unreliable.
import type { RootDatabase } from 'lmdb'
import { settleWithin } from '../../src/async/settle-within.ts'
import { duration } from '../../src/quantities.ts'
import type { Change, createChanges } from './changes.ts'
import { StorageError } from './errors.ts'
import type { Table } from './table.ts'

/** The part of the change feed that is open to a commit. */
export interface Commit {
  announce(change: Omit<Change, 'number'>): void
  hasAnnounced(kind: string, id: string): boolean
}

export interface TransactionParts {
  root: RootDatabase
  /** Stores the number of the newest change. */
  meta: Table<number>
  changes: ReturnType<typeof createChanges>
  timeoutMs: number
  /** The environment is unusable. */
  onPanic: (reason: string) => void
  /** Called after each commit: with the reason of a failure, or with null. */
  onOutcome: (reason: string | null) => void
}

/** lmdb gives the reason only after the failure; this is how long to wait for it. */
const reasonMs = 1000

export function createCommit(parts: TransactionParts) {
  const { root, meta, changes, onPanic, onOutcome } = parts
  return async <T>(write: (commit: Commit) => T): Promise<T> => {
    const announced: Change[] = []
    const refusals: unknown[] = []
    let id = Number.POSITIVE_INFINITY
    const durable = root.childTransaction(() => {
      id = root.getWriteTxnId()
      try {
        const result = write({
          announce: (change) => announced.push({ number: 0, ...change }),
          hasAnnounced: (kind, id) => announced.some((change) => change.kind === kind && change.id === id),
        })
        if (announced.length > 0) meta.put('commit', changes.numberAll(announced))
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
  const result = await settleWithin(work, timeoutMs, expired)
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
