// The edge that requests to services come by.
import { z } from 'zod'
import { HistoryEntry } from '../../api/deploy.ts'
import { Edge, EdgeUpgrade } from '../../api/edge.ts'
import { edgeId } from '../../domain/domains.ts'
import * as edge from '../handlers/edge.ts'
import { get, post, tagged } from '../pipeline/route.ts'

export const edgeRoutes = tagged('Edge', [
  get('/edge', {
    role: 'read',
    summary: 'Returns the state of the edge, its traffic, and its HAProxy version',
    response: Edge,
    handler: ({ context }) => edge.readEdge(context),
  }),
  post('/edge/upgrade', {
    summary: 'Replaces the edge with the newest HAProxy without a failed request',
    body: EdgeUpgrade,
    status: 202,
    response: Edge,
    handler: edge.upgradeEdge,
  }),
  post('/edge/retry', {
    summary: 'Retries a parked edge, or creates a discarded one again',
    status: 202,
    response: Edge,
    replay: edge.readEdge,
    problems: ['not_found', 'not_parked', 'not_recoverable', 'conflict'],
    handler: edge.retryEdge,
  }),
  get('/edge/history', {
    role: 'read',
    summary: 'Lists the transitions of the edge: the first 10 and the last 500',
    response: z.array(HistoryEntry),
    handler: ({ context }) => context.storage.actors.history(edgeId),
  }),
])
