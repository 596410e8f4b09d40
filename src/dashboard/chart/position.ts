// Where an actor is in its chart, from its history.
import type { HistoryEntry } from '../../api/actor.ts'
import type { ChartLayout } from '../build/layout-charts.ts'
import { anyFailure } from './words.ts'

/** Sets of ids of states, with the states around them. */
export interface Position {
  active: ReadonlySet<string>
  past: ReadonlySet<string>
  /** Where an arrow leads from here. */
  next: ReadonlySet<string>
  /** The indexes of the edges that the last entry took; none if they are not known. */
  taken: number[]
}

type Edge = ChartLayout['edges'][number]
type Entry = Pick<HistoryEntry, 'event' | 'state'>

/** At the last entry; the entries of a moment give the position at that moment. */
export function positionIn(layout: ChartLayout, entries: Entry[]): Position {
  const ids = layout.states.map(({ id }) => id)
  const lastIndex = entries.findLastIndex((entry) => !isOutside(entry))
  const active = new Set(activeIds(ids, entries[lastIndex]))
  const past = new Set(entries.slice(0, Math.max(0, lastIndex)).flatMap((entry) => activeIds(ids, entry)))
  const next = new Set(layout.edges.filter((edge) => leaves(edge, active)).map(({ to }) => to))
  return { active, past, next, taken: takenEdges(layout, entries) }
}

/** Parking is no transition of the chart: the actor stays where it was. */
function isOutside({ state }: Entry): boolean {
  return state === 'parked' || state === 'discarded'
}

/** Regions of a parallel state are separated by blanks: `wanted.life.available wanted.limits.settled`. */
function activeIds(ids: string[], entry: Entry | undefined): string[] {
  if (!entry) return []
  const leaves = entry.state.split(' ').flatMap((path) => {
    // In entries of older servers only the first region has its whole path.
    const id = ids.find((known) => known === path) ?? ids.find((known) => known.endsWith(`.${path}`))
    return id === undefined ? [] : [id]
  })
  return leaves.flatMap((leaf) => ids.filter((id) => leaf === id || leaf.startsWith(`${id}.`)))
}

/** The chart itself is always active, and its own edges are those of every state. */
export function leaves({ from, via }: Edge, active: ReadonlySet<string>): boolean {
  if (active.size === 0) return false
  return (from === '' || active.has(from)) && (via.length === 0 || via.some((id) => active.has(id)))
}

function takenEdges({ states, edges }: ChartLayout, entries: Entry[]): number[] {
  const [before, last] = [entries.at(-2), entries.at(-1)]
  if (!before || !last) return []
  const ids = states.map(({ id }) => id)
  const from = new Set(activeIds(ids, before))
  const to = activeIds(ids, last)
  const begins = (edge: Edge) => {
    const isFailure = edge.event === anyFailure && last.event.endsWith('.failed')
    return (edge.event === last.event || isFailure) && leaves(edge, from)
  }
  const starts = edges.flatMap((edge, index) => (begins(edge) ? [index] : []))
  return starts.map((start) => chainTo(edges, start, to)).find((chain) => chain !== null) ?? []
}

/** Some states only decide where to go: an entry passes them. Null if the edge leads elsewhere. */
function chainTo(edges: Edge[], start: number, to: string[], passed: string[] = []): number[] | null {
  const { to: target } = edges[start]!
  if (to.includes(target)) return [start]
  if (passed.includes(target)) return null
  for (const [index, { event, from }] of edges.entries()) {
    if (event !== '' || from !== target) continue
    const rest = chainTo(edges, index, to, [...passed, target])
    if (rest) return [start, ...rest]
  }
  return null
}
