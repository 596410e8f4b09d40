// The graph of a chart: its states, and the transitions between them with their causes.
import type { AnyStateMachine, AnyStateNode } from 'xstate'

export interface ChartState {
  /** As in the history: `running.fetching`. Empty for the chart itself. */
  id: string
  key: string
  /** The id of the state around it; null for the chart itself. */
  parent: string | null
  kind: 'atomic' | 'compound' | 'parallel' | 'final'
  isInitial: boolean
  /** What the actor does or waits for in this state. */
  summary: string
  /** It may last for as long as nothing happens, unlike a step. */
  isWait: boolean
}

export interface ChartEdge {
  from: string
  to: string
  /** As in the history: `cancel`, `fetchSource.done`. Empty for a transition without a cause. */
  event: string
  guard: string | null
  /** The states whose transitions this edge of the state around them stands for; usually none. */
  via: string[]
}

export interface ChartGraph {
  states: ChartState[]
  edges: ChartEdge[]
}

/** The event of an edge that stands for the failures of several effects. */
const anyFailure = '*.failed'

/** So many states with one outcome share an edge. */
const minBundle = 3

export function toChartGraph(machine: AnyStateMachine): ChartGraph {
  const nodes = [...nodesOf(machine.root)]
  return { states: nodes.map(toState), edges: bundled(nodes.flatMap(edgesOf), nodes) }
}

/** The node itself first. */
export function* nodesOf(node: AnyStateNode): Generator<AnyStateNode> {
  yield node
  for (const child of Object.values(node.states)) yield* nodesOf(child)
}

function toState(node: AnyStateNode): ChartState {
  const { parent, key, type } = node
  const isInitial = parent?.type === 'compound' && parent.initial.target?.[0] === node
  const kind = type === 'history' ? 'atomic' : type
  const summary = node.description ?? ''
  return {
    id: idOf(node),
    key,
    parent: parent ? idOf(parent) : null,
    kind,
    isInitial,
    summary,
    isWait: isWait(node),
  }
}

/** The slots of such states are named `awaitExpiry`, `keepInstances`, `sleepUntil`; or nothing runs. */
function isWait({ type, invoke, always = [] }: AnyStateNode): boolean {
  const isAtRest = type === 'atomic' && invoke.length === 0 && always.length === 0
  return isAtRest || invoke.some(({ id }) => /^(await|keep|sleep)/.test(id))
}

function idOf({ path }: AnyStateNode): string {
  return path.join('.')
}

function edgesOf(node: AnyStateNode): ChartEdge[] {
  const transitions = [...node.transitions.values()].flat().concat(node.always ?? [])
  return transitions.flatMap(({ target, eventType, guard }) =>
    (target ?? [node]).map((to) => ({
      from: idOf(node),
      to: idOf(to),
      event: eventName(eventType),
      guard: guardName(guard),
      via: [],
    })),
  )
}

/** The history shows `xstate.done.actor.fetchSource` as `fetchSource.done`. */
export function eventName(type: string): string {
  if (type === 'xstate.init') return 'created'
  const [, outcome, slot] = /^xstate\.(done|error)\.actor\.(.+)$/.exec(type) ?? []
  return slot === undefined ? type : `${slot}.${outcome === 'done' ? 'done' : 'failed'}`
}

export function guardName(guard: unknown): string | null {
  if (typeof guard === 'string') return guard
  return (guard as { type?: string } | undefined)?.type ?? null
}

/** Without it, each phase of a deploy would have its own arrow to the same failure. */
function bundled(edges: ChartEdge[], nodes: AnyStateNode[]): ChartEdge[] {
  const parents = new Map(nodes.map((node) => [idOf(node), node.parent ? idOf(node.parent) : null]))
  const groups = new Map<string, ChartEdge[]>()
  edges.forEach((edge, index) => {
    const key = bundleKey(edge, parents.get(edge.from) ?? null) ?? String(index)
    groups.set(key, [...(groups.get(key) ?? []), edge])
  })
  return [...groups.values()].flatMap((group) => {
    const sources = [...new Set(group.map(({ from }) => from))]
    const around = parents.get(sources[0]!) ?? null
    if (around === null || sources.length < minBundle) return group
    const { to, event, guard } = group[0]!
    return [{ from: around, to, event: isFailure(event) ? anyFailure : event, guard, via: sources }]
  })
}

/** Null for an edge that stays alone: what an effect returns, and what leads back into its own state. */
function bundleKey({ from, to, event, guard }: ChartEdge, around: string | null): string | null {
  const isOutcome = event === '' || event.endsWith('.done')
  if (around === null || isOutcome || to === from) return null
  return JSON.stringify([around, to, isFailure(event) ? anyFailure : event, guard])
}

function isFailure(event: string): boolean {
  return event.endsWith('.failed')
}

/** The states of a history entry, with the states around them, without those of an older chart. */
export function statesIn(ids: readonly string[], state: string): string[] {
  const leaves = state.split(' ').flatMap((path) => {
    // In entries of older servers, only the first region has its whole path.
    const id = ids.find((known) => known === path) ?? ids.find((known) => known.endsWith(`.${path}`))
    return id === undefined ? [] : [id]
  })
  return ids.filter((id) => leaves.some((leaf) => leaf === id || id === '' || leaf.startsWith(`${id}.`)))
}
