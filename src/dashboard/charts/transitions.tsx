// Every transition of an actor that is kept, in words: the chart for those who do not see it.
import { Link } from '@tanstack/react-router'
import { useLayoutEffect, useRef, useState } from 'react'
import { causeWords, moveWords } from '../chart/causes.ts'
import type { Moment } from '../chart/moments.ts'
import { type Repeat, toRepeats } from '../chart/repeats.ts'
import { TableHead } from '../controls/table-head.tsx'
import { clockTime } from '../look/clock-time.ts'
import { requesterOf } from '../look/requester.ts'
import { duration } from '../look/times.tsx'
import styles from './table.module.css'

interface TransitionsProps {
  moments: Moment[]
  /** The moment that is shown. */
  index: number
}

export function Transitions({ moments, index }: TransitionsProps) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const box = useRef<HTMLDivElement>(null)
  useRowInView(box, index)
  const shown = moments[index]!
  // What lies between two moments is not repeated: it has a row of its own.
  const keyOf = ({ entry, missing, isAfterRestart }: Moment) =>
    missing > 0 || isAfterRestart ? String(entry.revision) : `${entry.event} ${entry.state}`
  const repeats = toRepeats(moments, keyOf)
  return (
    <section>
      <h2>Transitions</h2>
      <div className={styles.box} ref={box}>
        <table className={styles.table}>
          <TableHead names={['Time', 'Event', 'From', 'To', 'Duration', 'By']} />
          <tbody>
            {repeats.map((repeat) => {
              const first = repeat.items[0]!.entry.revision
              const isOpen = opened.has(first) || hides(repeat, shown)
              const rows = isOpen ? repeat.items : repeat.items.slice(-repeat.length)
              return rows.map((moment, at) => (
                <Row
                  key={moment.entry.revision}
                  moment={moment}
                  isShown={moment === shown}
                  count={at === 0 && !isOpen ? repeat.count : 1}
                  onOpen={() => setOpened(new Set(opened).add(first))}
                />
              ))
            })}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** The moment is in a repetition that is not drawn. */
function hides({ items, length }: Repeat<Moment>, moment: Moment): boolean {
  return items.slice(0, -length).includes(moment)
}

interface RowProps {
  moment: Moment
  isShown: boolean
  count: number
  onOpen(): void
}

function Row({ moment, isShown, count, onOpen }: RowProps) {
  const { entry, at, from, durationMs, missing, isAfterRestart } = moment
  const words = moveWords(from, entry.state)
  return (
    <>
      {missing > 0 && (
        <Between text={`${missing} ${missing === 1 ? 'transition' : 'transitions'} not kept`} />
      )}
      {isAfterRestart && <Between text="Restarted" />}
      <tr aria-current={isShown ? 'true' : undefined}>
        <td>
          <Link from="/charts/$kind/$id" search={{ at: entry.revision }} replace resetScroll={false}>
            <time dateTime={entry.at}>{clockTime(at)}</time>
          </Link>
        </td>
        <td title={entry.event}>
          {causeWords(entry.event)}{' '}
          {count > 1 && (
            <button type="button" data-kind="small" title="Show each" onClick={onOpen}>
              ×{count}
            </button>
          )}
        </td>
        <td className="quiet">{words.from}</td>
        <td title={entry.state}>{words.to}</td>
        <td>{durationMs === null ? '' : duration(durationMs)}</td>
        <td className="quiet">{requesterOf(entry.by)}</td>
      </tr>
    </>
  )
}

function Between({ text }: { text: string }) {
  return (
    <tr className={styles.between}>
      <td colSpan={6}>{text}</td>
    </tr>
  )
}

/** Only within the box: the page stays where it is. */
function useRowInView(box: React.RefObject<HTMLDivElement | null>, index: number): void {
  useLayoutEffect(() => {
    const row = box.current!.querySelector<HTMLElement>('[aria-current="true"]')
    if (!row) return
    const { scrollTop, clientHeight } = box.current!
    const isAbove = row.offsetTop < scrollTop + row.offsetHeight
    const isBelow = row.offsetTop + row.offsetHeight > scrollTop + clientHeight
    if (isAbove || isBelow) box.current!.scrollTop = row.offsetTop - clientHeight / 2
  }, [box, index])
}
