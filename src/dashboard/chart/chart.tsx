// A chart with the state of one actor: where it is, where it was, and the transition it took last.
import { useQuery } from '@tanstack/react-query'
import { useLayoutEffect, useRef, useState } from 'react'
import type { HistoryEntry } from '../../api/actor.ts'
import { Arrows } from './arrows.tsx'
import styles from './chart.module.css'
import { type ChartLayout, layoutQuery } from './layouts.ts'
import { type Position, positionIn } from './position.ts'
import { StateBox } from './state-box.tsx'
import { StateNote, type StateTimes } from './state-note.tsx'

interface ChartProps {
  kind: string
  /** Of one actor, up to the moment to show; empty for the chart of a kind. */
  history: Pick<HistoryEntry, 'event' | 'state'>[]
  /** How many actors are in each state. */
  counts?: Record<string, number>
  times?: Record<string, StateTimes>
  /** States to mark: where an event would lead. */
  reached?: ReadonlySet<string>
  /** The state that a list next to the chart points to. */
  pointed?: string | null
}

/** Its text stays readable: a wide chart is scaled a little, then its box scrolls. */
const smallestScale = 0.8

export function Chart({ kind, history, times = {}, pointed = null, ...marks }: ChartProps) {
  const { data: layout } = useQuery(layoutQuery(kind))
  const [hovered, setHovered] = useState<string | null>(null)
  if (!layout) return null
  const position = positionIn(layout, history)
  const shown = hovered ?? pointed ?? latestState(layout, position) ?? ''
  return (
    <figure className={styles.chart}>
      <figcaption className={styles.note}>
        <StateNote state={layout.states.find(({ id }) => id === shown)} times={times[shown]} />
      </figcaption>
      <Picture
        layout={layout}
        kind={kind}
        position={position}
        pointed={hovered ?? pointed}
        onPoint={setHovered}
        {...marks}
      />
    </figure>
  )
}

interface PictureProps extends Pick<ChartProps, 'kind' | 'counts' | 'reached' | 'pointed'> {
  layout: ChartLayout
  position: Position
  onPoint(id: string | null): void
}

function Picture({ layout, kind, position, counts = {}, reached, pointed, onPoint }: PictureProps) {
  const { width, height, states } = layout
  const latest = latestState(layout, position)
  const leaf = states.find(({ id }) => id === latest)
  const box = useScrollTo(leaf ? leaf.x + leaf.width / 2 : width / 2, width)
  const frames = states.filter(({ kind }) => kind === 'compound' || kind === 'parallel')
  const boxOf = (state: ChartLayout['states'][number]) => (
    <StateBox
      key={state.id}
      state={state}
      position={position}
      count={counts[state.id] ?? 0}
      isReached={reached?.has(state.id) ?? false}
      isPointed={pointed === state.id}
      onPoint={onPoint}
    />
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by the keyboard.
    <div className={styles.box} ref={box} tabIndex={0}>
      <svg
        className={styles.picture}
        viewBox={`0 0 ${width} ${height}`}
        style={{ minWidth: width * smallestScale, maxWidth: width }}
        role="img"
        aria-label={sentenceOf(kind, layout, position)}
        data-actor={position.active.size > 0}
      >
        {frames.map(boxOf)}
        <Arrows layout={layout} taken={position.taken} />
        {frames.map(({ id, key, x, y }) => (
          <text key={id} className={styles.title} x={x + 12} y={y + 20}>
            {key}
          </text>
        ))}
        {states.filter((state) => !frames.includes(state)).map(boxOf)}
      </svg>
    </div>
  )
}

/** Of several regions, the state that the last transition led to. */
function latestState({ states, edges }: ChartLayout, { active, taken }: Position): string | undefined {
  const leaves = states.filter(({ id, kind }) => active.has(id) && (kind === 'atomic' || kind === 'final'))
  const entered = taken.length > 0 ? edges[taken.at(-1)!]!.to : ''
  return (leaves.find(({ id }) => id === entered || id.startsWith(`${entered}.`)) ?? leaves[0])?.id
}

/** Scrolls sideways to the state, unless it is in view. */
function useScrollTo(x: number, width: number) {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const { scrollWidth, clientWidth, scrollLeft } = box.current!
    const center = (x / width) * scrollWidth
    const isInView = center > scrollLeft + 60 && center < scrollLeft + clientWidth - 60
    if (!isInView) box.current!.scrollLeft = center - clientWidth / 2
  }, [x, width])
  return box
}

function sentenceOf(kind: string, { states }: ChartLayout, { active, past }: Position): string {
  const leavesOf = (ids: ReadonlySet<string>) =>
    [...ids].filter((id) => id !== '' && !states.some(({ parent }) => parent === id))
  const now = leavesOf(active)
  if (now.length === 0) return `The chart of ${kind}, with ${states.length - 1} states.`
  const before = leavesOf(past).filter((id) => !active.has(id))
  const rest = before.length > 0 ? ` Before: ${before.join(', ')}.` : ''
  return `The chart of ${kind}. Now in ${now.join(', ')}.${rest}`
}
