// The server itself: health, the contract, the machine, the change feed.

import { FeedEvents } from '../../api/feed.ts'
import { Document, HealthQuery, Info } from '../../api/info.ts'
import * as events from '../handlers/events.ts'
import * as server from '../handlers/server.ts'
import { get, type Route, route, tagged } from '../pipeline/route.ts'

export const serverRoutes = (routes: () => readonly Route[]) =>
  tagged('Server', [
    route({
      method: 'GET',
      path: '/healthz',
      credential: 'public',
      summary: 'Returns `ok`, or 503 `starting`; with `verbose` also `degraded` and codes',
      query: HealthQuery,
      response: 'text',
      otherStatuses: { 503: '`starting`: not serving yet.' },
      handler: server.health,
    }),
    route({
      method: 'GET',
      path: '/metrics',
      role: 'read',
      summary: 'Returns metrics in the format of Prometheus',
      response: 'text',
      handler: server.metrics,
    }),
    get('/openapi.json', {
      credential: 'public',
      summary: 'Returns this document',
      response: Document,
      handler: server.createOpenApi(routes),
    }),
    get('/info', {
      role: 'read',
      scope: 'server',
      summary: 'Returns the version, the defaults and facts about the host',
      response: Info,
      handler: server.info,
    }),
    get('/events', {
      role: 'read',
      scope: 'filtered',
      summary:
        'The change feed: `ready`, then `change` after each commit; `reset` when Last-Event-ID is too old',
      response: 'stream',
      events: FeedEvents,
      handler: events.followChanges,
    }),
  ])
