// What running actors do, live: also the events that they ignore and their effects, which no history has.
import { type InspectMessage, InspectQuery } from '../../api/inspect.ts'
import type { Inspected } from '../../supervisor/inspection.ts'
import { type Call, get, tagged, WebSocketUpgrade } from '../pipeline/route.ts'
import { closeCodes } from '../server/web-socket.ts'

/** A client that leaves more unread is disconnected. */
const pendingLimitBytes = 1024 * 1024

export const inspectRoutes = tagged('Actors', [
  get('/inspect', {
    credential: 'session',
    summary: 'Opens a WebSocket that reports what actors do, live',
    description:
      'Each message is JSON of `type`, `at`, `actor_id`, `kind`, `event`, `from`, `to`, `microsteps` and ' +
      '`effect`. The types are `transition` (committed), `ignored` (the chart does not take the event in ' +
      'this state), `rejected` (the chart failed) and `effect`. The client sends nothing.',
    query: InspectQuery,
    response: 'socket',
    handler: openInspection,
  }),
])

function openInspection({ context, query }: Call<unknown, InspectQuery>) {
  return new WebSocketUpgrade((socket) => {
    const refuse = () => socket.end(closeCodes.refused)
    socket.listen({ text: refuse, bytes: refuse, drained: () => {} })
    const end = context.actors.inspect((seen) => {
      if (query.actor !== undefined && seen.id !== query.actor) return
      if (socket.bufferedBytes() > pendingLimitBytes) refuse()
      else socket.send(JSON.stringify(toMessage(seen)))
    })
    socket.onClose(end)
  })
}

function toMessage(seen: Inspected): InspectMessage {
  const { type, at, id: actor_id, kind } = seen
  const nothing = { event: null, from: null, to: null, microsteps: [], effect: null }
  const common = { type, at, actor_id, kind }
  if (seen.type === 'effect') return { ...nothing, ...common, effect: seen.effect }
  const { event, from } = seen
  if (seen.type !== 'transition') return { ...nothing, ...common, event, from }
  return { ...nothing, ...common, event, from, to: seen.to, microsteps: seen.microsteps }
}
