// The rows of a log for React: new lines are added to them; after other changes they are made again.
import { useMemo, useRef } from 'react'
import { type Fold, FoldedRows, type FoldOptions } from './folds.ts'
import type { Line } from './lines.ts'
import type { Log } from './log.ts'

interface Kept {
  folded: FoldedRows
  options: FoldOptions
  first: number
  taken: number
}

/** Another object when rows that were known may have changed. */
export function useFoldedRows(
  log: Log,
  folds: readonly Fold[],
  chosen: ReadonlyMap<string, boolean>,
  isShown: (line: Line) => boolean,
): FoldedRows {
  const key = JSON.stringify(folds)
  const options = useMemo(
    () => ({ folds: JSON.parse(key) as Fold[], chosen, isShown }),
    [key, chosen, isShown],
  )
  const kept = useRef<Kept | null>(null)
  const settled = useRef(new Set<number>())
  const { lines } = log
  const isKept =
    kept.current?.options === options &&
    kept.current.first === lines.first &&
    kept.current.taken <= lines.count &&
    !kept.current.folded.isStale
  if (!isKept) {
    const folded = new FoldedRows(options, settled.current)
    kept.current = { folded, options, first: lines.first, taken: 0 }
  }
  const { folded, taken } = kept.current!
  folded.add(lines.all(), taken)
  kept.current!.taken = lines.count
  return folded
}

/** Reads well only if the rows are not stale, so the caller renders again after it. */
export function closedAt(folded: FoldedRows, index: number, number: number): string | null {
  const row = folded.rows[index]
  if (!row) return null
  if ('fold' in row) return row.isOpen ? null : row.fold.id
  const run = folded.runAt(row)
  return run && !run.isOpen && row.number < number ? run.id : null
}
