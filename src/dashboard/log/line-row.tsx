// One row of a log: a line, or the head of a phase.
import { memo, type ReactNode } from 'react'
import { useNow } from '../live/clock.ts'
import { dateTime, exactTime } from '../look/clock-time.ts'
import { duration } from '../look/times.tsx'
import type { Matcher } from './find.ts'
import type { Head, Run } from './folds.ts'
import styles from './line-row.module.css'
import type { Line } from './lines.ts'
import { type Piece, toRows } from './pieces.ts'
import { maxRows, rowsOf } from './rows.ts'

interface LineProps {
  line: Line
  top: number
  height: number
  columns: number
  /** All of a long line, not only its beginning. */
  isWhole: boolean
  hasTime: boolean
  isSelected: boolean
  isCurrentHit: boolean
  matcher: Matcher | null
  /** The toggle of the step that the line begins. */
  toggle: ReactNode
}

export const LineRow = memo(function LineRow(props: LineProps) {
  const { line, top, height, columns, isWhole, hasTime, matcher, toggle } = props
  const hiddenRows = isWhole ? 0 : rowsOf(line.cells, columns) - maxRows
  const limit = hiddenRows > 0 ? maxRows : Number.POSITIVE_INFINITY
  return (
    <div
      className={styles.row}
      style={{ top, height }}
      data-line={line.number}
      data-stream={line.stream}
      data-step={line.step?.state}
      data-status={line.status && Math.floor(line.status / 100)}
      data-selected={props.isSelected || undefined}
      data-hit={props.isCurrentHit || undefined}
    >
      <a
        className={styles.number}
        href={`#L${line.number}`}
        aria-label={`Line ${line.number}`}
        tabIndex={-1}
        data-number={line.number}
      >
        {line.number}
      </a>
      {hasTime && <Time at={line.at} />}
      {toggle}
      <div className={styles.text} data-text>
        {toRows(line.text, { columns, limit, matcher }).map((pieces, index) => (
          <div key={index} className={styles.part}>
            {pieces.map(toElement)}
          </div>
        ))}
      </div>
      {hiddenRows > 0 && (
        <button type="button" className={styles.more} data-whole={line.number}>
          Show {hiddenRows.toLocaleString()} more rows
        </button>
      )}
    </div>
  )
})

function toElement({ text, style, href, isMatch }: Piece, index: number): ReactNode {
  const names = style.split(' ').map((name) => styles[name] ?? '')
  const className = [...names, isMatch ? styles.match : ''].filter(Boolean).join(' ')
  if (href !== undefined) {
    return (
      <a key={index} className={className} href={href} target="_blank" rel="noreferrer">
        {text}
      </a>
    )
  }
  if (className === '') return text
  return isMatch ? (
    <mark key={index} className={className}>
      {text}
    </mark>
  ) : (
    <span key={index} className={className}>
      {text}
    </span>
  )
}

function Time({ at }: { at: number }) {
  return (
    <time className={styles.time} dateTime={new Date(at).toISOString()} title={dateTime(at)}>
      {exactTime(at)}
    </time>
  )
}

/** Next to each line of a log with steps, so that their texts are aligned. */
export function StepToggle({ run, since }: { run: Run | undefined; since: number }) {
  if (!run) return <span className={styles.noToggle} />
  return (
    <>
      <button type="button" className={styles.toggle} aria-expanded={run.isOpen} data-fold={run.id}>
        <span className="hidden">Output of this step</span>
      </button>
      {!run.isOpen && (
        <span className={styles.summary}>
          {linesWord(run.lines)} · {duration(run.lastAt - since)}
        </span>
      )}
    </>
  )
}

export function HeadRow({ head, top, height }: { head: Head; top: number; height: number }) {
  const { fold, isOpen, lines, steps, cached } = head
  return (
    <div className={styles.head} style={{ top, height }} data-state={fold.state}>
      <button type="button" className={styles.headButton} aria-expanded={isOpen} data-fold={fold.id}>
        <span className={styles.title}>{fold.title}</span>
        <span className={styles.detail}>
          {steps.size > 0 ? stepsWord(steps.size, cached.size) : linesWord(lines)} · <Elapsed fold={fold} />
        </span>
      </button>
    </div>
  )
}

function Elapsed({ fold: { state, startedAt, endedAt } }: Pick<Head, 'fold'>) {
  if (endedAt === null) return <Running since={Date.parse(startedAt)} />
  const words = duration(Date.parse(endedAt) - Date.parse(startedAt))
  return <>{state === 'failed' ? `failed after ${words}` : words}</>
}

function Running({ since }: { since: number }) {
  return <>running for {duration(useNow() - since)}</>
}

function stepsWord(steps: number, cached: number): string {
  const words = steps === 1 ? '1 step' : `${steps} steps`
  return cached > 0 ? `${words}, ${cached} cached` : words
}

export function linesWord(lines: number): string {
  return lines === 1 ? '1 line' : `${lines.toLocaleString()} lines`
}
