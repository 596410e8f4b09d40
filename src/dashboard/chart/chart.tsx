// A chart with the state of one actor: where it is, where it was, and the transition it took last.
import { useQuery } from '@tanstack/react-query'
import type { HistoryEntry } from '../../api/actor.ts'
import styles from './chart.module.css'
import { type ChartLayout, loadLayout } from './layouts.ts'
import { type Position, positionIn } from './position.ts'

export function Chart({ kind, history }: { kind: string; history: HistoryEntry[] }) {
  const { data: layout } = useQuery({
    queryKey: ['layout', kind],
    queryFn: () => loadLayout(kind),
  })
  if (!layout) return null
  return (
    <figure className={styles.chart}>
      <Picture layout={layout} kind={kind} position={positionIn(layout, history)} />
    </figure>
  )
}

function Picture({ layout, kind, position }: { layout: ChartLayout; kind: string; position: Position }) {
  const { width, height, states, edges } = layout
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={`Chart of ${kind}: ${[...position.active].join(', ')}`}
    >
      <defs>
        <marker
          id="arrow"
          viewBox="0 0 8 8"
          refX="7"
          refY="4"
          markerWidth="7"
          markerHeight="7"
          orient="auto-start-reverse"
        >
          <path d="M0 0 8 4 0 8Z" fill="context-stroke" />
        </marker>
      </defs>
      {states.map((state) => (
        <StateBox key={state.id} state={state} position={position} />
      ))}
      {edges.map((edge, index) => (
        <g key={index} data-edge={edge.event} data-taken={position.taken === index}>
          <polyline points={edge.points.map((point) => point.join(',')).join(' ')} markerEnd="url(#arrow)" />
          {edge.label?.lines.map((line, at) => (
            <text key={line} x={edge.label!.x + 3} y={edge.label!.y + 11 + at * 15}>
              {line}
            </text>
          ))}
        </g>
      ))}
    </svg>
  )
}

function StateBox({ state, position }: { state: ChartLayout['states'][number]; position: Position }) {
  const { id, key, kind, x, y, width, height } = state
  const isLeaf = kind === 'atomic' || kind === 'final'
  return (
    <g
      data-state={id}
      data-kind={kind}
      data-active={position.active.has(id)}
      data-past={position.past.has(id)}
    >
      <rect x={x} y={y} width={width} height={height} rx={isLeaf ? 6 : 8} />
      <text x={isLeaf ? x + width / 2 : x + 12} y={y + 20} textAnchor={isLeaf ? 'middle' : 'start'}>
        {key}
      </text>
    </g>
  )
}
