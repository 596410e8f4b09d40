// The routes that several kinds of records have: the history, the log, and why one failed.
import { z } from 'zod'
import type { Storage } from '../../../storage/index.ts'
import { HistoryEntry } from '../../api/deploy.ts'
import { LogEvents } from '../../api/feed.ts'
import { Why } from '../../api/parts/failure.ts'
import { ServiceParams } from '../../api/service.ts'
import { messageOf } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type CallById, get, type Route, type ServiceScope } from '../pipeline/route.ts'
import { logEvents } from '../pipeline/sse.ts'
import { showActorLine } from '../records/log-lines.ts'
import type { Advice } from '../why/advice.ts'
import { type ExplainedRecord, explain } from '../why/why.ts'

// The access that many routes of services have.
export const readsService = { role: 'read', scope: 'service', params: ServiceParams } as const
export const runsService = { role: 'deploy', scope: 'service', params: ServiceParams } as const

/** Responses may contain a credential, so they are not stored under an `Idempotency-Key`. */
export const accountPost = { acceptsIdempotencyKey: false, bodyLimitBytes: 16 * 1024 } as const

interface RecordRoute<Found> {
  params: z.ZodType<{ id: string }>
  scope?: ServiceScope
  summary: string
  find(storage: Storage, id: string): Found
}

export function show<Shown>(read: (context: HttpContext, id: string) => Shown) {
  return ({ context, params }: CallById) => read(context, params.id)
}

export function historyRoute(path: string, { find, ...shared }: RecordRoute<{ id: string }>): Route {
  return get(`${path}/history`, {
    ...shared,
    role: 'read',
    response: z.array(HistoryEntry),
    handler: ({ context: { storage }, params }) => storage.actors.history(find(storage, params.id).id),
  })
}

type LogQuery = z.ZodType<{ follow: boolean }>

/** `GET …/logs` of a deploy or a job run. */
export function logRoute(
  path: string,
  { find, ...shared }: RecordRoute<{ id: string }> & { query: LogQuery },
): Route {
  return get(`${path}/logs`, {
    ...shared,
    role: 'read',
    scope: 'record',
    response: 'stream',
    events: LogEvents,
    handler({ context, params, query, lastEventId, log }) {
      const { id } = find(context.storage, params.id)
      return logEvents(context.storage.logs, id, {
        follow: query.follow,
        after: lastEventId ?? 0,
        show: showActorLine,
        onError: (error) => log.error({ id, reason: messageOf(error) }, 'a log could not be read'),
      })
    },
  })
}

interface WhyRoute<Found> extends RecordRoute<Found> {
  advise(record: Found, storage: Storage): Advice | null
  hasLog?: boolean
}

export function whyRoute<Found extends ExplainedRecord>(
  path: string,
  { find, advise, hasLog = false, ...shared }: WhyRoute<Found>,
): Route {
  return get(`${path}/why`, {
    ...shared,
    role: 'read',
    response: Why,
    handler({ context: { storage }, params }) {
      const record = find(storage, params.id)
      return explain(storage, record, { advice: advise(record, storage), hasLog })
    },
  })
}
