// Which rows of a log are in the page: those that can be seen, and those with text that the reader selected.
import { defaultRangeExtractor, type Range as RowRange, useVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useCallback, useLayoutEffect, useRef } from 'react'
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

export type RowWindow = ReturnType<typeof useVirtualRows>

/** What the reader looks at stays where it is, also when a part above it opens or closes. */
export function useRowWindow(
  box: RefObject<HTMLDivElement | null>,
  layout: Layout,
  isFollowing: boolean,
): RowWindow {
  const known = useRef<Known | null>(null)
  const top = known.current && known.current.layout !== layout ? topOf(known.current) : null
  const rows = useVirtualRows(box, layout, isFollowing)
  useLayoutEffect(() => {
    known.current = { layout, rows }
    const item = top && rows.measurementsCache[Math.max(0, layout.folded.indexOf(top.number))]
    if (!item || isFollowing) return
    const offset = item.start + Math.min(top.offset, item.size)
    if (Math.abs(offset - rows.scrollOffset!) > 1) rows.scrollToOffset(offset)
  })
  return rows
}

function useVirtualRows(box: RefObject<HTMLDivElement | null>, layout: Layout, isFollowing: boolean) {
  const { folded } = layout
  const getItemKey = useCallback(
    (index: number) => {
      const row = layout.folded.rows[index]!
      return isHead(row) ? row.fold.id : row.number
    },
    [layout],
  )
  return useVirtualizer<HTMLDivElement, Element>({
    count: folded.rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => heightOf(layout, folded.rows[index]!),
    getItemKey,
    overscan: extraRows,
    // In the same frame, for lines that come or leave above it.
    anchorTo: 'end',
    rangeExtractor(range) {
      const indexes = [...selectedRows(box.current, folded), ...visibleRows(range, isFollowing)]
      return [...new Set(indexes)].sort((a, b) => a - b)
    },
  })
}

interface Known {
  layout: Layout
  rows: ReturnType<typeof useVirtualRows>
}

/** The row at the top, before a new layout changes where it is. */
function topOf({ layout, rows }: Known): { number: number; offset: number } | null {
  const item = rows.getVirtualItemForOffset(rows.scrollOffset ?? 0)
  const row = item && layout.folded.rows[item.index]
  return row ? { number: row.number, offset: rows.scrollOffset! - item.start } : null
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
