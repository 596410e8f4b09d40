// What an actor accepts in its state, and where an event would lead: from the chart alone, nothing is sent.
import type { ChartLayout } from '../build/layout-charts.ts'
import { leaves } from './position.ts'
import { anyFailure, guardWords } from './words.ts'

export interface Possible {
  event: string
  /** A command or a report of the server; otherwise how a step ends. */
  isCommand: boolean
  ways: Way[]
}

export interface Way {
  to: string
  /** In words; null for a way without a condition. */
  condition: string | null
  /** It leads back into the state that it comes from. */
  stays: boolean
}

/** In the order of the chart, the innermost states first. */
export function possibleEvents(layout: ChartLayout, active: ReadonlySet<string>): Possible[] {
  const found = new Map<string, Possible>()
  const edges = layout.edges.filter((edge) => edge.event !== '' && leaves(edge, active))
  for (const edge of edges.toSorted((one, other) => depthOf(other.from) - depthOf(one.from))) {
    const { from, to, event, guard, via } = edge
    const names =
      event === anyFailure
        ? failuresOf(
            layout,
            via.filter((id) => active.has(id)),
          )
        : [event]
    for (const name of names) {
      const way = { to, condition: guard === null ? null : (guardWords[guard] ?? guard), stays: from === to }
      const known = found.get(name)
      if (known) known.ways.push(way)
      else found.set(name, { event: name, isCommand: isCommand(name), ways: [way] })
    }
  }
  return [...found.values()]
}

/** The steps of these states, by the event of their success. */
function failuresOf({ edges }: ChartLayout, ids: string[]): string[] {
  const done = edges.filter(({ from, event }) => ids.includes(from) && event.endsWith('.done'))
  return [...new Set(done.map(({ event }) => event.replace(/done$/, 'failed')))]
}

export function isCommand(event: string): boolean {
  return !/\.(done|failed)$/.test(event)
}

function depthOf(id: string): number {
  return id === '' ? 0 : id.split('.').length
}

/** The states in which the actor would be: with the states around them, and the first ones inside. */
export function reachedBy(layout: ChartLayout, { ways }: Possible): Set<string> {
  return new Set(ways.flatMap(({ to }) => entered(layout, to)))
}

/** A state that only decides leads on at once. */
function entered(layout: ChartLayout, id: string, passed: string[] = []): string[] {
  if (passed.includes(id)) return []
  const { states, edges } = layout
  const kind = states.find((state) => state.id === id)?.kind
  const inside = states.filter(({ parent, isInitial }) => parent === id && (isInitial || kind === 'parallel'))
  const decided = edges.filter(({ from, event }) => from === id && event === '')
  const next = [...inside.map((state) => state.id), ...decided.map(({ to }) => to)]
  return [id, ...next.flatMap((one) => entered(layout, one, [...passed, id]))]
}
