// A chart as small as a stamp: where the actors are.
import type { ChartLayout } from '../chart/layouts.ts'
import styles from './thumbnail.module.css'

interface ThumbnailProps {
  layout: ChartLayout
  counts: Record<string, number>
}

/** Next to the same in words. */
export function Thumbnail({ layout: { width, height, states, lines }, counts }: ThumbnailProps) {
  return (
    <svg className={styles.thumbnail} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {lines.map(({ points }, index) => (
        <polyline key={index} points={points.join(' ')} />
      ))}
      {states
        .filter(({ kind }) => kind === 'atomic' || kind === 'final')
        .map(({ id, x, y, width, height }) => (
          <rect
            key={id}
            x={x}
            y={y}
            width={width}
            height={height}
            rx="6"
            data-filled={(counts[id] ?? 0) > 0}
          />
        ))}
    </svg>
  )
}
