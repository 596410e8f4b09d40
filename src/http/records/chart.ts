// What is known of a chart without any actor: its graph, and the events that each of its states handles.
import { type ChartGraph, nodesOf, statesIn, toChartGraph } from '../../../machines/graph.ts'
import { catalogue, type Kind } from '../../../machines/index.ts'
import type { MachineSummary } from '../../api/machine.ts'

export interface Chart {
  name: MachineSummary['kind']
  kind: Kind
  graph: ChartGraph
  /** The ids of its states. */
  ids: readonly string[]
  eventsOf: ReadonlyMap<string, readonly string[]>
}

export const charts: ReadonlyMap<string, Chart> = new Map(
  Object.entries<Kind>(catalogue).map(([name, kind]) => {
    const nodes = [...nodesOf(kind.machine.root)]
    const own = (events: string[]) => events.filter((type) => !type.startsWith('xstate.'))
    const eventsOf = new Map(nodes.map(({ path, ownEvents }) => [path.join('.'), own(ownEvents)]))
    const graph = toChartGraph(kind.machine)
    return [
      name,
      { name: name as MachineSummary['kind'], kind, graph, ids: graph.states.map(({ id }) => id), eventsOf },
    ]
  }),
)

/** Types of the events that are handled in a state of a history entry. Guards may still refuse them. */
export function acceptedIn({ ids, eventsOf }: Chart, state: string): string[] {
  return [...new Set(statesIn(ids, state).flatMap((id) => eventsOf.get(id)!))]
}
