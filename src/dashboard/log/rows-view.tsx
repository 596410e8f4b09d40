// The part of a log that scrolls.
import type { CSSProperties, MouseEvent, RefObject } from 'react'
import type { FindState } from './find-state.ts'
import { isHead } from './folds.ts'
import { HeadRow, LineRow, StepToggle } from './line-row.tsx'
import { Marks } from './marks.tsx'
import type { Layout, RowWindow } from './row-window.ts'
import styles from './rows-view.module.css'
import type { Selection } from './selection.ts'

interface RowsProps {
  box: RefObject<HTMLDivElement | null>
  layout: Layout
  rows: RowWindow
  find: FindState
  selected: Selection | null
  hasTimes: boolean
  /** Of a line number. */
  digits: number
  /** What is shown instead of no lines. */
  empty: string
  toggle: (fold: string, isOpen: boolean) => void
  showWhole: (number: number) => void
  onSelect: (number: number, isExtended: boolean) => void
  /** On a phone, where nothing else is pressed. */
  onTap: () => void
}

export function Rows(props: RowsProps) {
  const { box, layout, rows, digits, find, empty } = props
  const { folded, columns } = layout
  const width = Number.isFinite(columns) ? undefined : `calc(100% + ${folded.widest}ch)`
  return (
    <div className={styles.frame}>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a key on a button or a link inside is a click. */}
      <div
        ref={box}
        className={styles.lines}
        style={{ '--digits': digits } as CSSProperties}
        role="log"
        aria-live="off"
        aria-label="Lines"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by the keyboard.
        tabIndex={0}
        onClick={(event) => press(event, props)}
      >
        <div className={styles.space} style={{ height: rows.getTotalSize(), width }}>
          {rows.getVirtualItems().map(({ index, key, start, size }) => (
            <RowAt key={key} {...props} index={index} top={start} height={size} />
          ))}
        </div>
        {folded.rows.length === 0 && <p className={styles.empty}>{empty}</p>}
      </div>
      {find.search && !find.isSearching && <Marks hits={find.search.hits} folded={folded} rows={rows} />}
    </div>
  )
}

function RowAt(props: RowsProps & { index: number; top: number; height: number }) {
  const { layout, find, selected, hasTimes, index, top, height } = props
  const { folded, columns, whole } = layout
  const row = folded.rows[index]!
  if (isHead(row)) return <HeadRow head={row} top={top} height={height} />
  const run = folded.runAt(row)
  return (
    <LineRow
      line={row}
      top={top}
      height={height}
      columns={columns}
      isWhole={whole.has(row.number)}
      hasTime={hasTimes}
      isSelected={selected !== null && row.number >= selected.first && row.number <= selected.last}
      isCurrentHit={find.current >= 0 && find.search?.hitOf(find.current)?.number === row.number}
      matcher={find.matcher}
      toggle={folded.hasRuns && <StepToggle run={run} since={row.at} />}
    />
  )
}

/** One listener for all rows. */
function press(event: MouseEvent, { toggle, showWhole, onSelect, onTap }: RowsProps): void {
  const pressed = (selector: string) => (event.target as Element).closest<HTMLElement>(selector)
  const [fold, whole, number] = [pressed('[data-fold]'), pressed('[data-whole]'), pressed('[data-number]')]
  const isPhone = matchMedia('(pointer: coarse) and (max-width: 759px)').matches
  if (isPhone && !pressed('a, button')) onTap()
  if (fold) toggle(fold.dataset.fold!, fold.ariaExpanded !== 'true')
  if (whole) showWhole(Number(whole.dataset.whole))
  if (!number || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  onSelect(Number(number.dataset.number), event.shiftKey)
}
