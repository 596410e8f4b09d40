// One commit as LMDB carries it out: grouped with others, durable when it resolves, and told when it failed
// in a way that nothing later can be relied on.
// A rejected commit is unknown, not failed; whoever needs to know reads again after a reopening.
import type { RootDatabase } from 'lmdb'
import { settleWithin } from '../../src/async/settle-within.ts'
import { duration } from '../../src/quantities.ts'
import type { Change, createChanges } from './changes.ts'
import { StorageError } from './errors.ts'
import type { Table } from './table.ts'

/** What a commit may do besides writing: tell the change feed. */
export interface Commit {
  announce(change: Omit<Change, 'number'>): void
  hasAnnounced(kind: string, id: string): boolean
}

export interface TransactionParts {
  root: RootDatabase
  /** Has the number of the newest change. */
  meta: Table<number>
  changes: ReturnType<typeof createChanges>
  timeoutMs: number
  /** The environment cannot be used any more. */
  onPanic: (reason: string) => void
  /** Told after each commit: why the disk refused it, or null. */
  onOutcome: (reason: string | null) => void
}

/** How long lmdb may take to say why a commit failed: it tells that after the failure. */
const reasonMs = 1000

/** The store's `commit`. */
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
      // lmdb tells no failure of the last thing a commit writes; but reading throws from then on.
      meta.getOrNull('commit')
      onOutcome(null)
      changes.publish(announced)
      return result
    } catch (error) {
      if (error instanceof StorageError || refusals.includes(error)) throw error
      const trouble = unreliableReason(root, id)
      const reason = await reasonOf(error)
      if (trouble !== null) onPanic(`${trouble}: ${reason}`)
      onOutcome(reason)
      throw new StorageError('commit_failed', `the store could not write: ${reason}`)
    }
  }
}

/** What could not be written may leave LMDB silent for ever: only a deadline notices. */
async function withinDeadline<T>(work: Promise<T>, { timeoutMs, onPanic }: TransactionParts): Promise<T> {
  const expired = Symbol()
  const result = await settleWithin(work, timeoutMs, expired)
  if (result !== expired) return result as T
  const reason = `the store did not finish a commit within ${duration(timeoutMs)}`
  onPanic(reason)
  throw new StorageError('commit_failed', reason)
}

/** Why nothing that LMDB says can be relied on any more; null after a failure that changed nothing. */
function unreliableReason(root: RootDatabase, id: number): string | null {
  try {
    const { lastTxnId } = root.getStats() as { lastTxnId: number }
    // Shown to readers but not flushed: the kernel forgets such pages, and the next flush succeeds without
    // them.
    return lastTxnId >= id ? 'the disk did not keep what the store shows already' : null
  } catch {
    return 'the store is in panic'
  }
}

/** What the system said, which lmdb tells in a promise beside the error: unheard it would end the process. */
async function reasonOf(error: unknown): Promise<string> {
  const { commitError } = error as { commitError?: Promise<never> }
  const told = commitError?.catch((cause: unknown) => cause)
  const reason = await settleWithin(told ?? Promise.resolve(error), reasonMs, error)
  // Behind the colon are sizes and positions.
  return reason instanceof Error ? reason.message.split(': ')[0]! : String(reason)
}
