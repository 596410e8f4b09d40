// One state of a chart. States around others are drawn first, so that arrows are seen on them.
import styles from './chart.module.css'
import type { ChartLayout } from './layouts.ts'
import type { Position } from './position.ts'

interface StateBoxProps {
  state: ChartLayout['states'][number]
  position: Position
  count: number
  isReached: boolean
  isPointed: boolean
  onPoint(id: string | null): void
}

export function StateBox({ state, position, count, isReached, isPointed, onPoint }: StateBoxProps) {
  const { id, key, kind, x, y, width, height, isWait } = state
  const isLeaf = kind === 'atomic' || kind === 'final'
  const radius = isLeaf ? (isWait ? height / 2 : 5) : 9
  return (
    <g
      className={isLeaf ? styles.state : `${styles.state} ${styles.frame}`}
      data-state={id}
      data-kind={kind}
      data-active={position.active.has(id)}
      data-past={position.past.has(id)}
      data-next={position.next.has(id)}
      data-reached={isReached}
      data-pointed={isPointed}
      onPointerEnter={() => onPoint(id)}
      onPointerLeave={() => onPoint(null)}
    >
      <rect x={x} y={y} width={width} height={height} rx={radius} />
      {kind === 'final' && (
        <rect
          className={styles.inner}
          x={x + 3}
          y={y + 3}
          width={width - 6}
          height={height - 6}
          rx={radius - 2}
        />
      )}
      {isLeaf && (
        <text x={x + width / 2} y={y + 20} textAnchor="middle">
          {key}
        </text>
      )}
      {count > 0 && isLeaf && <Count x={x + width} y={y} count={count} />}
    </g>
  )
}

function Count({ x, y, count }: { x: number; y: number; count: number }) {
  const text = String(count)
  const width = Math.max(20, text.length * 8 + 10)
  return (
    <g data-count={count}>
      <rect className={styles.count} x={x - width / 2} y={y - 10} width={width} height={20} rx={10} />
      <text className={styles.number} x={x} y={y + 4} textAnchor="middle">
        {text}
      </text>
    </g>
  )
}
