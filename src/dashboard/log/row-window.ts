// Which rows of a log are in the page: those that can be seen, and those with text that the reader selected.
import { defaultRangeExtractor, type Range as RowRange, useVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useCallback } from 'react'
import { type FoldedRows, isHead, type Row } from './folds.ts'
import { rowPx, shownRows } from './rows.ts'

const isTouch = matchMedia('(pointer: coarse)').matches
const headPx = isTouch ? 44 : 34
/** A line with a toggle is taller, so that a finger hits it. */
const togglePx = isTouch ? 24 : 4
const extraRows = 15
const maxSelectedRows = 1_000

/** A new object whenever the height of a known row may have changed. */
export interface Layout {
  folded: FoldedRows
  /** Infinite for lines that are not wrapped. */
  columns: number
  /** The numbers of long lines that are shown as a whole. */
  whole: ReadonlySet<number>
}

export type RowWindow = ReturnType<typeof useRowWindow>

export function useRowWindow(box: RefObject<HTMLDivElement | null>, layout: Layout, isFollowing: boolean) {
  const { folded } = layout
  const getItemKey = useCallback(
    (index: number) => {
      const row = layout.folded.rows[index]!
      return isHead(row) ? row.fold.id : row.number
    },
    [layout],
  )
  return useVirtualizer({
    count: folded.rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => heightOf(layout, folded.rows[index]!),
    getItemKey,
    overscan: extraRows,
    // What the reader looks at stays where it is, when lines come or leave above it.
    anchorTo: 'end',
    rangeExtractor(range) {
      const indexes = [...selectedRows(box.current, folded), ...visibleRows(range, isFollowing)]
      return [...new Set(indexes)].sort((a, b) => a - b)
    },
  })
}

function heightOf({ folded, columns, whole }: Layout, row: Row): number {
  if (isHead(row)) return headPx
  const px = shownRows(row.cells, columns, whole.has(row.number)) * rowPx
  return folded.runAt(row) ? px + togglePx : px
}

/** New rows are drawn in the frame that scrolls to them, not in the next one. */
function visibleRows(range: RowRange, isFollowing: boolean): number[] {
  if (!isFollowing) return defaultRangeExtractor(range)
  const endIndex = range.count - 1
  const startIndex = Math.max(0, endIndex - (range.endIndex - range.startIndex) - 1)
  return defaultRangeExtractor({ ...range, startIndex, endIndex })
}

function selectedRows(box: HTMLElement | null, folded: FoldedRows): number[] {
  const selection = document.getSelection()
  if (!box || !selection || selection.isCollapsed) return []
  const ends = [selection.anchorNode, selection.focusNode].flatMap((node) => {
    const element = node instanceof Element ? node : node?.parentElement
    const row = element?.closest<HTMLElement>('[data-line]')
    return row && box.contains(row) ? [folded.indexOf(Number(row.dataset.line))] : []
  })
  if (ends.length < 2) return []
  const [first, last] = [Math.min(...ends), Math.max(...ends)]
  return Array.from({ length: Math.min(last - first + 1, maxSelectedRows) }, (_, at) => first + at)
}
