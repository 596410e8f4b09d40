// The arrows of a chart with their labels. Each arrow has its own head, because not every browser gives the
// head of a marker the color of its line.
import styles from './chart.module.css'
import type { ChartLayout } from './layouts.ts'

type Points = ChartLayout['starts'][number]

export function Arrows({ layout, taken }: { layout: ChartLayout; taken: number[] }) {
  const { lines, edges, starts } = layout
  const takenLines = new Set(taken.map((index) => edges[index]!.line))
  return (
    <>
      {starts.map((points) => (
        <g key={String(points)} className={styles.line}>
          <circle className={styles.head} cx={points[0]![0]} cy={points[0]![1] - 4} r="4" />
          <Arrow points={points} />
        </g>
      ))}
      {lines.map(({ points, label }, index) => (
        <g key={index} className={styles.line} data-taken={takenLines.has(index)}>
          <Arrow points={points} />
          {label && <Label label={label} taken={taken} />}
        </g>
      ))}
    </>
  )
}

function Arrow({ points }: { points: Points }) {
  return (
    <>
      <path d={rounded(points)} />
      <path className={styles.head} d={headOf(points)} />
    </>
  )
}

type LabelProps = { label: NonNullable<ChartLayout['lines'][number]['label']>; taken: number[] }

function Label({ label, taken }: LabelProps) {
  const { x, y, width, height, rows } = label
  return (
    <>
      <rect x={x} y={y} width={width} height={height} />
      {rows.map(({ edge, text }, at) => (
        <text
          key={`${edge} ${text}`}
          data-taken={taken.includes(edge)}
          x={x + width / 2}
          y={y + 11 + at * 15}
          textAnchor="middle"
        >
          {text}
        </text>
      ))}
    </>
  )
}

const radius = 6

/** The line with round corners. */
function rounded(points: Points): string {
  const corners = points.slice(1, -1).map((corner, index) => {
    const [before, after] = [points[index]!, points[index + 2]!]
    const size = Math.min(radius, distance(before, corner) / 2, distance(corner, after) / 2)
    return `L${towards(corner, before, size)}Q${corner} ${towards(corner, after, size)}`
  })
  return `M${points[0]}${corners.join('')}L${points.at(-1)}`
}

function headOf(points: Points): string {
  const [tip, before] = [points.at(-1)!, points.at(-2)!]
  const [x, y] = towards(tip, before, 7)
  const [across, down] = [((tip[1] - y) / 7) * 3.5, ((tip[0] - x) / 7) * 3.5]
  return `M${tip}L${x + across} ${y - down}L${x - across} ${y + down}Z`
}

type Point = Points[number]

function distance(one: Point, other: Point): number {
  return Math.hypot(one[0] - other[0], one[1] - other[1])
}

/** `size` pixels from one point to another. */
function towards(from: Point, to: Point, size: number): Point {
  const share = size / (distance(from, to) || 1)
  return [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share]
}
