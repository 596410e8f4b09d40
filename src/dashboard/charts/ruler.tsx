// The real time between the transitions. A long wait is folded, so that the steps around it can be seen.
import { type Moment, toSpans } from '../chart/moments.ts'
import { clockTime } from '../look/clock-time.ts'
import { duration } from '../look/times.tsx'
import styles from './ruler.module.css'

interface RulerProps {
  moments: Moment[]
  index: number
  onGo(index: number): void
}

/** Hidden from screen readers: the slider and the table say the same. */
export function Ruler({ moments, index, onGo }: RulerProps) {
  return (
    <div className={styles.ruler} aria-hidden="true">
      <span className={styles.end}>{clockTime(moments[0]!.at)}</span>
      <span className={styles.spans}>
        {toSpans(moments).map(({ index: at, share, foldedMs }) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: keys move the slider.
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys move the slider.
          <span
            key={at}
            className={styles.span}
            style={{ flexGrow: share * 1000 }}
            data-place={at < index ? 'past' : at === index ? 'present' : 'ahead'}
            data-folded={foldedMs !== null}
            data-restart={moments[at]!.isAfterRestart}
            title={titleOf(moments[at]!)}
            onClick={() => onGo(at)}
          >
            {foldedMs !== null && duration(foldedMs).split(' ')[0]}
          </span>
        ))}
        <span className={styles.last} data-place={index === moments.length - 1 ? 'present' : 'ahead'} />
      </span>
      <span className={styles.end}>{clockTime(moments.at(-1)!.at)}</span>
    </div>
  )
}

function titleOf({ entry, durationMs, isAfterRestart }: Moment): string {
  const restart = isAfterRestart ? 'Restarted, then ' : ''
  return `${restart}${entry.state}: ${duration(durationMs ?? 0)}`
}
