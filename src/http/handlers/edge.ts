// The edge: whether it serves, its HAProxy, and its upgrade. Options set everything else.
import { Failure } from '../../errors.ts'
import { edgeId } from '../../hosts.ts'
import type { Call } from '../route.ts'
import type { HistoryEntry } from '../schemas/deploy.ts'
import type { Edge, EdgeUpgrade } from '../schemas/edge.ts'

export function getEdge({ context: { storage, config } }: Call): Edge {
  const record = storage.actors.record(edgeId) as Edge | null
  if (record) return record
  const { mode, httpPort, httpsPort } = config.edge
  const software = { version: null, image: null, available: null, upgrade_error: null, upgraded_at: null }
  const times = { serving_since: null, next_attempt_at: null, created_at: null }
  const never = { routes: null, error: null, error_code: null, ...software, ...times }
  return { id: edgeId, status: 'off', mode, http_port: httpPort, https_port: httpsPort, ...never }
}

/** Begins an upgrade unless one is in progress. The record shows how it ends. */
export async function upgradeEdge(call: Call<unknown, unknown, EdgeUpgrade>): Promise<Edge> {
  const { context, body, eventId } = call
  const found = getEdge(call)
  if (found.status === 'upgrading') return found
  const refusal = `the edge is ${found.status}: only one that serves can be upgraded`
  if (found.created_at === null) throw new Failure('conflict', refusal)
  const options = eventId === undefined ? {} : { eventId }
  const event = { type: 'upgrade', at: new Date().toISOString(), by: 'the API', force: body.force }
  const { applied, record } = await context.actors.send(edgeId, event, options)
  if (!applied) throw new Failure('conflict', refusal)
  return record as unknown as Edge
}

export function edgeHistory({ context: { storage } }: Call): HistoryEntry[] {
  return storage.actors.history(edgeId)
}
