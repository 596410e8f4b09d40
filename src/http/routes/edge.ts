// The state of the edge, and upgrades of its HAProxy. Its settings are options of berthd.
import { z } from 'zod'
import { HistoryEntry } from '../../api/actor.ts'
import { Edge, EdgeUpgrade } from '../../api/edge.ts'
import { edgeId } from '../../domain/domains.ts'
import { conflict, Failure } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type Call, get, post, tagged } from '../pipeline/route.ts'
import { command } from '../records/requester.ts'

export const edgeRoutes = tagged('Edge', [
  get('/edge', {
    role: 'read',
    summary: 'Returns the state of the edge, its traffic, and its HAProxy version',
    response: Edge,
    handler: ({ context }) => readEdge(context),
  }),
  post('/edge/upgrade', {
    summary: 'Replaces the edge with the newest HAProxy without a failed request',
    body: EdgeUpgrade,
    status: 202,
    response: Edge,
    handler: upgradeEdge,
  }),
  post('/edge/retry', {
    summary: 'Retries a parked edge, or creates a discarded one again',
    status: 202,
    response: Edge,
    replay: readEdge,
    problems: ['not_found', 'not_parked', 'not_recoverable', 'conflict'],
    async handler({ context, eventId }) {
      await resumeEdge(context, { eventId })
      return readEdge(context)
    },
  }),
  get('/edge/history', {
    role: 'read',
    summary: 'Lists the transitions of the edge: the first 10 and the last 500',
    response: z.array(HistoryEntry),
    handler: ({ context }) => context.storage.actors.history(edgeId),
  }),
])

function readEdge({ storage, config }: HttpContext): Edge {
  const { mode, httpPort, httpsPort } = config.edge
  const software = { version: null, image: null, available: null, upgrade_error: null, upgraded_at: null }
  const times = { serving_since: null, next_attempt_at: null, created_at: null, revision: 0, by: null }
  const never = { routes: null, error: null, error_code: null, ...software, ...times }
  const off: Edge = { id: edgeId, status: 'off', mode, http_port: httpPort, https_port: httpsPort, ...never }
  const record = storage.actors.record(edgeId)
  if (!record) return off
  // The record of a parked edge has additional fields, and some may be missing.
  const knownFields = Object.keys(off).filter((field) => record[field] !== undefined)
  return { ...off, ...Object.fromEntries(knownFields.map((field) => [field, record[field]])) }
}

/** Resumes a parked edge, or creates a discarded one again. Throws `not_parked`, `conflict`. */
export async function resumeEdge(
  { actors, config, storage }: HttpContext,
  options: { eventId?: string | undefined },
): Promise<void> {
  const [active] = storage.actors.active('edge')
  if (active) throw new Failure('not_parked', 'the edge is not parked')
  const { mode, httpPort, httpsPort } = config.edge
  if (mode !== 'off') {
    const at = new Date().toISOString()
    await actors.spawn('edge', edgeId, { id: edgeId, mode, httpPort, httpsPort, at }, options)
  } else await actors.retry(edgeId, options)
}

async function upgradeEdge(call: Call<unknown, unknown, EdgeUpgrade>): Promise<Edge> {
  const { context, body, eventId } = call
  const edge = readEdge(context)
  if (edge.status === 'upgrading') return edge
  const refusal = `the edge is ${edge.status}: only a running edge can be upgraded`
  if (edge.created_at === null) throw conflict(refusal)
  const options = { eventId }
  const event = command(call, 'upgrade', { force: body.force })
  const { applied, record } = await context.actors.send<'edge'>(edgeId, event, options)
  if (!applied) throw conflict(refusal)
  return record
}
