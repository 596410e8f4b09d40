// Brings a line into view as soon as it is in memory, and opens what hides it.
import { useLayoutEffect, useState } from 'react'
import { closedAt } from './folded-rows.ts'
import type { FoldedRows } from './folds.ts'
import type { RowWindow } from './row-window.ts'

interface Options {
  first: number | null
  folded: FoldedRows
  rows: RowWindow
  lastNumber: number
  open: (fold: string) => void
}

export function useReveal({ first, folded, rows, lastNumber, open }: Options): (number: number) => void {
  const [target, setTarget] = useState(first)
  useLayoutEffect(() => {
    if (target === null || lastNumber < target) return
    const index = folded.indexOf(target)
    const fold = closedAt(folded, index, target)
    if (fold !== null) return open(fold)
    const { startIndex = 0, endIndex = -1 } = rows.range ?? {}
    // Lines that come above it may move it away again.
    if (index < 0 || (startIndex <= index && index <= endIndex)) setTarget(null)
    else rows.scrollToIndex(index, { align: 'center' })
  })
  return setTarget
}
