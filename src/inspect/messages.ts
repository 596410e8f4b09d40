// The messages of @statelyai/inspect, which its viewers read. They are built here, because the package itself
// would send contexts and outputs.
import type { AnyStateMachine, StateValue } from 'xstate'
import type { Effect, Inspected, RunningView } from '../supervisor/inspection.ts'

/** Of that package. */
export const protocolVersion = '0.7.2'

interface Snapshot {
  status: 'active' | 'done' | 'error' | 'stopped'
  value?: StateValue
  error?: { code: string | null }
}

export type Message = {
  sessionId: string
  rootId: string
  createdAt: string
  id: null
  _version: string
} & (
  | { type: '@xstate.actor'; name: string; parentId?: string; definition?: string; snapshot: Snapshot }
  | { type: '@xstate.event'; event: { type: string } }
  | { type: '@xstate.snapshot'; event: { type: string }; snapshot: Snapshot }
)

/** The definition is needed once per kind. */
export function actorMessage(
  { id, value }: Pick<RunningView, 'id' | 'value'>,
  at: string,
  definition: string | undefined,
): Message {
  const snapshot: Snapshot = { status: 'active', value }
  const known = definition === undefined ? {} : { definition }
  return { type: '@xstate.actor', name: id, ...known, snapshot, ...common(id, id, at) }
}

/** An effect is a child of its actor. */
export function effectMessage(actorId: string, { name, outcome, code }: Effect, at: string): Message {
  const ids = common(`${actorId}/${name}`, actorId, at)
  if (outcome === 'started') {
    return { type: '@xstate.actor', name, parentId: actorId, snapshot: { status: 'active' }, ...ids }
  }
  const status = ({ done: 'done', failed: 'error', aborted: 'stopped' } as const)[outcome]
  const snapshot: Snapshot = outcome === 'failed' ? { status, error: { code } } : { status }
  return { type: '@xstate.snapshot', event: { type: '' }, snapshot, ...ids }
}

export function eventMessages(seen: Exclude<Inspected, { type: 'effect' }>): Message[] {
  const ids = common(seen.id, seen.id, seen.at)
  const event = { type: seen.eventType }
  const received: Message = { type: '@xstate.event', event, ...ids }
  if (seen.type !== 'transition') return [received]
  const snapshot: Snapshot = { status: seen.isFinal ? 'done' : 'active', value: seen.value }
  return [received, { type: '@xstate.snapshot', event, snapshot, ...ids }]
}

/** The chart as JSON, without the context. Functions are their names. */
export function definitionOf({ config }: AnyStateMachine): string {
  const { context: _, ...chart } = config
  return JSON.stringify(chart, (_key, value: unknown) =>
    typeof value === 'function' ? { type: (value as { type?: string }).type ?? value.name } : value,
  )
}

function common(sessionId: string, rootId: string, at: string) {
  return { sessionId, rootId, createdAt: String(Date.parse(at)), id: null, _version: protocolVersion }
}
