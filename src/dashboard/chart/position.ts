// Where an actor is in its chart, from its history.
import type { HistoryEntry } from '../../api/actor.ts'
import type { ChartLayout } from '../build/layout-charts.ts'
import { anyFailure } from './words.ts'

export interface Position {
  /** Ids of states, with the states around them. */
  active: ReadonlySet<string>
  past: ReadonlySet<string>
  /** The index of the edge that the last entry took; -1 if it is not known. */
  taken: number
}

type Entry = Pick<HistoryEntry, 'event' | 'state'>

/** At the last entry; the entries of a moment give the position at that moment. */
export function positionIn(layout: ChartLayout, entries: Entry[]): Position {
  const ids = layout.states.map(({ id }) => id)
  const active = new Set(activeIds(ids, entries.at(-1)))
  const past = new Set(entries.slice(0, -1).flatMap((entry) => activeIds(ids, entry)))
  return { active, past, taken: takenEdge(layout, entries) }
}

/** Regions of a parallel state are separated by blanks: `wanted.life.available limits.settled`. */
function activeIds(ids: string[], entry: Entry | undefined): string[] {
  if (!entry) return []
  const leaves = entry.state.split(' ').flatMap((path) => {
    // Of all regions only the first has its whole path.
    const id = ids.find((known) => known === path) ?? ids.find((known) => known.endsWith(`.${path}`))
    return id === undefined ? [] : [id]
  })
  return leaves.flatMap((leaf) => ids.filter((id) => leaf === id || leaf.startsWith(`${id}.`)))
}

function takenEdge({ states, edges }: ChartLayout, entries: Entry[]): number {
  const [before, last] = [entries.at(-2), entries.at(-1)]
  if (!before || !last) return -1
  const ids = states.map(({ id }) => id)
  const [from, to] = [activeIds(ids, before), activeIds(ids, last)]
  return edges.findIndex(({ event, from: source, to: target, via }) => {
    const isEvent = event === last.event || (event === anyFailure && last.event.endsWith('.failed'))
    return (
      isEvent &&
      from.includes(source) &&
      to.includes(target) &&
      (via.length === 0 || via.some((id) => from.includes(id)))
    )
  })
}
