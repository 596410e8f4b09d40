// What a viewer shows of its log: the rows and their heights, what is open, and whether the end is followed.
import { type RefObject, useMemo, useState } from 'react'
import { useColumns } from './columns.ts'
import { isShownBy, type LogSearch } from './filter.ts'
import { type FindState, useFind } from './find-state.ts'
import { useFoldedRows } from './folded-rows.ts'
import { type Fold, type FoldedRows, isHead } from './folds.ts'
import { useFollowing } from './follow.ts'
import type { Log } from './log.ts'
import { useReveal } from './reveal.ts'
import { type Layout, type RowWindow, useRowWindow } from './row-window.ts'
import type { Settings } from './settings.ts'

interface Options {
  log: Log
  box: RefObject<HTMLDivElement | null>
  folds: readonly Fold[]
  search: LogSearch
  onSearch: (change: Partial<LogSearch>) => void
  settings: Settings
  /** A past moment: later lines are not shown. */
  until: number | null
  /** The line that the address names. */
  named: number | null
}

export interface LogView {
  layout: Layout
  rows: RowWindow
  find: FindState
  digits: number
  isFollowing: boolean
  follow(isFollowing: boolean): void
  /** The lines that came since the end is not followed; null if their number is unknown. */
  newLines: number | null
  toggle(fold: string, isOpen: boolean): void
  showWhole(number: number): void
  reveal(number: number): void
  go(step: 1 | -1): void
}

const timeColumns = 13
const toggleColumns = 2
/** Next to the number, and after the text. */
const gapColumns = 4

export function useLogView(options: Options): LogView {
  const { log, box, folds, search, onSearch, settings, until, named } = options
  const { query, stream, instance, status } = search
  const isShown = useMemo(
    () => isShownBy({ stream, instance, status }, until),
    [stream, instance, status, until],
  )
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [whole, setWhole] = useState<ReadonlySet<number>>(new Set())
  const [isFollowing, setFollowing] = useState(named === null)
  const [leftAt, setLeftAt] = useState<number | null>(null)

  const folded = useFoldedRows(log, folds, chosen, isShown)
  const digits = Math.max(3, String(log.lines.last).length)
  const taken =
    digits + gapColumns + (settings.hasTimes ? timeColumns : 0) + (folded.hasRuns ? toggleColumns : 0)
  const fitting = useColumns(box, taken)
  const columns = settings.isWrapped ? fitting : Number.POSITIVE_INFINITY
  const layout = useMemo(() => ({ folded, columns, whole }), [folded, columns, whole])
  const rows = useRowWindow(box, layout, isFollowing)
  const find = useFind(log, isShown, query, (next) => onSearch({ query: next }))

  function choose(...changes: [fold: string, isOpen: boolean][]): void {
    setChosen((before) => new Map([...before, ...changes]))
  }
  function follow(next: boolean): void {
    log.follow(next)
    setFollowing(next)
    setLeftAt(log.lines.last)
    // Nothing closes by itself under the eyes of a reader who stays.
    if (!next) choose(...openFolds(folded))
  }
  const showAt = useReveal({
    first: named,
    folded,
    rows,
    lastNumber: log.lines.last,
    open: (fold) => choose([fold, true]),
  })
  function reveal(number: number): void {
    if (isFollowing) follow(false)
    showAt(number)
  }
  useFollowing({ box, rows, isFollowing, onChange: follow, onReachStart: log.loadOlder })

  return {
    layout,
    rows,
    find,
    digits,
    isFollowing,
    follow,
    newLines: until !== null ? 0 : leftAt === null || log.isPaused() ? null : log.lines.last - leftAt,
    toggle(fold, isOpen) {
      if (isFollowing) follow(false)
      choose([fold, isOpen])
    },
    showWhole: (number) => setWhole((before) => new Set([...before, number])),
    reveal,
    go(step) {
      const top = folded.rows[rows.range?.startIndex ?? 0]?.number ?? 0
      const number = find.go(step, top)
      if (number !== null) reveal(number)
    },
  }
}

function openFolds({ rows }: FoldedRows): [string, boolean][] {
  return rows.flatMap((row) => (isHead(row) && row.isOpen ? [[row.fold.id, true] as [string, boolean]] : []))
}
