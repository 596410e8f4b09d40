// The server itself: health, information, metrics, the OpenAPI document, and the change feed.
import { gzipSync } from 'node:zlib'
import type { Change } from '../../../storage/store/changes.ts'
import type { Caller } from '../../account/callers.ts'
import { hasRole, reachesService } from '../../account/rights.ts'
import { FeedEvents } from '../../api/feed.ts'
import { Document, HealthQuery, Info } from '../../api/info.ts'
import { edgeId } from '../../domain/domains.ts'
import { openApiDocument } from '../openapi/document.ts'
import { anyPort } from '../openapi/guide.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { originOf, portOf } from '../pipeline/origin.ts'
import { type Call, get, post, Raw, type Route, route, tagged } from '../pipeline/route.ts'
import { changeEvents } from '../pipeline/sse.ts'
import { toFeedChange } from '../records/feed-change.ts'
import { metricsText } from '../records/metrics.ts'
import { toJson } from '../records/requester.ts'

/** Their routes need the role `admin`. */
const adminKinds = ['account', 'session', 'token']

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
      handler: health,
    }),
    route({
      method: 'GET',
      path: '/metrics',
      role: 'read',
      summary: 'Returns metrics in the format of Prometheus',
      response: 'text',
      handler: metrics,
    }),
    get('/openapi.json', {
      credential: 'public',
      summary: 'Returns this document',
      response: Document,
      handler: createOpenApi(routes),
    }),
    get('/info', {
      role: 'read',
      scope: 'server',
      summary: 'Returns the version, the defaults and facts about the host',
      response: Info,
      handler: info,
    }),
    post('/server/activate', {
      credential: 'session',
      summary: 'Activates a restored server: its schedules and renewals run again',
      acceptsIdempotencyKey: false,
      handler({ context, log }) {
        context.storage.hold.release()
        log.info('the server is activated')
      },
    }),
    get('/events', {
      role: 'read',
      scope: 'filtered',
      summary:
        'The change feed: `ready`, then `change` after each commit; `reset` when Last-Event-ID is too old',
      response: 'stream',
      events: FeedEvents,
      // A token that is limited to services gets their changes only.
      handler: ({ context: { storage, version, dashboard }, caller, lastEventId }) =>
        changeEvents(storage.changes, {
          ready: { version, build: dashboard?.build ?? null, now: new Date().toISOString() },
          after: lastEventId,
          isShown: (change) => isShownTo(caller, change),
          show: (change) => toJson(caller, toFeedChange(storage, change)),
        }),
    }),
  ])

function health({ context, query }: Call<unknown, HealthQuery>): Raw {
  const isReady = context.ready()
  const reasons = isReady && query.verbose ? degradations(context) : []
  const text = reasons.length > 0 ? ['degraded', ...reasons].join('\n') : isReady ? 'ok' : 'starting'
  return new Raw(isReady ? 200 : 503, 'text/plain; charset=utf-8', text)
}

/** Returns only codes, and reads only memory or an index, because the route is public and polled often. */
function degradations({ storage, observe, actors }: HttpContext): string[] {
  const [parked] = storage.actors.parked()
  const edge = storage.actors.record(edgeId)?.status
  return [
    ...(storage.hold.get() ? ['held'] : []),
    ...(parked ? ['actors_parked'] : []),
    ...(actors.suspects().length > 0 ? ['actors_suspected'] : []),
    ...(edge === 'waiting' || edge === 'failed' ? ['edge_unavailable'] : []),
    ...(observe.builderHangsSince() === null ? [] : ['builder_hangs']),
  ]
}

async function metrics({ context }: Call): Promise<Raw> {
  return new Raw(200, 'text/plain; version=0.0.4; charset=utf-8', await metricsText(context))
}

/** A client can name any port in its Host: only the documents of the first ones are kept. */
const maxKeptDocuments = 8

/** The document depends on the request by the port in the cookie's name. */
function createOpenApi(routes: () => readonly Route[]): (call: Call) => Raw {
  let template: string | null = null
  const kept = new Map<string, Raw>()
  return ({ context, request }) => {
    const port = portOf(originOf(context, request))
    const known = kept.get(port)
    if (known) return known
    template ??= JSON.stringify(openApiDocument(routes(), context.version))
    const text = template.replace(anyPort, port)
    if (kept.size >= maxKeptDocuments) return new Raw(200, 'application/json', text)
    const document = new Raw(200, 'application/json', text, gzipSync(text))
    kept.set(port, document)
    return document
  }
}

async function info({ context }: Call): Promise<Info> {
  const [engine, diskFreeBytes] = await Promise.all([
    context.observe.engine(),
    context.observe.diskFreeBytes(),
  ])
  return {
    version: context.version,
    base_domain: context.config.baseDomain,
    default_memory_limit_mb: context.config.defaultMemoryLimitMb,
    default_cpu_limit: context.config.defaultCpuLimit,
    builds: { ...context.config.builds, hangs_since: context.observe.builderHangsSince() },
    docker_version: engine?.version ?? null,
    docker_cpus: engine?.cpus ?? null,
    docker_memory_bytes: engine?.memoryBytes ?? null,
    disk_free_bytes: diskFreeBytes,
    disk_usage: context.observe.diskUsage(),
    trash_days: context.config.trashDays,
    network_isolation: context.observe.isolation(),
    held: await held(context),
    uptime_seconds: Math.floor(process.uptime()),
  }
}

async function held({ observe, storage }: HttpContext): Promise<Info['held']> {
  const facts = storage.hold.get()
  if (facts === null) return null
  return { ...facts, missing: await observe.missingSince(facts.restored_at).catch(() => null) }
}

function isShownTo(caller: Caller | null, { kind, service_id }: Change): boolean {
  if (!reachesService(caller, service_id)) return false
  return !adminKinds.includes(kind) || hasRole(caller!, 'admin')
}
