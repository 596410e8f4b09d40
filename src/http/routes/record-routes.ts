// The routes that several kinds of records have: the record, its log, its history, and why it failed.
import { z } from 'zod'
import type { Storage } from '../../../storage/index.ts'
import type { Caller } from '../../account/callers.ts'
import { HistoryEntry } from '../../api/actor.ts'
import { LogEvents } from '../../api/feed.ts'
import { Why } from '../../api/parts/failure.ts'
import { ServiceParams } from '../../api/service.ts'
import { messageOf } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { get, type Route, type ServiceScope } from '../pipeline/route.ts'
import { logEvents, logText } from '../pipeline/sse.ts'
import { showActorLine } from '../records/log-lines.ts'
import type { Advice } from '../why/advice.ts'
import { type ExplainedRecord, explain } from '../why/why.ts'

// The access that many routes of services have.
export const readsService = { role: 'read', scope: 'service', params: ServiceParams } as const
export const runsService = { role: 'deploy', scope: 'service', params: ServiceParams } as const

/** Responses may contain a credential, so they are not stored under an `Idempotency-Key`. */
export const accountPost = { acceptsIdempotencyKey: false } as const

interface LogQuery {
  follow: boolean
  from?: number | undefined
  limit?: number | undefined
  tail?: number | undefined
}

interface RecordRoutes<Found, Shown> {
  /** With its article. */
  noun: string
  params: z.ZodType<{ id: string }>
  scope?: ServiceScope
  find(storage: Storage, id: string): Found
  show?: { response: z.ZodType<Shown>; read(context: HttpContext, id: string, caller: Caller | null): Shown }
  logQuery?: z.ZodType<LogQuery>
  why?: { advise(record: Found, storage: Storage): Advice | null; summary?: string; hasLog?: boolean }
}

export function recordRoutes<Found extends ExplainedRecord, Shown>(
  path: string,
  { noun, params, scope, find, show, logQuery, why }: RecordRoutes<Found, Shown>,
): Route[] {
  const shared = { role: 'read', params, ...(scope && { scope }) } as const
  const history = get(`${path}/history`, {
    ...shared,
    summary: `Lists the transitions of ${noun}: the first 10 and the last 500`,
    response: z.array(HistoryEntry),
    handler: ({ context: { storage }, params }) => storage.actors.history(find(storage, params.id).id),
  })
  const shown =
    show &&
    get(path, {
      ...shared,
      summary: `Returns ${noun}`,
      response: show.response,
      handler: ({ context, params, caller }) => show.read(context, params.id, caller),
    })
  const log =
    logQuery &&
    get(`${path}/logs`, {
      ...shared,
      summary: `Streams the log of ${noun}: \`log\` for each line, \`end\` when it has finished`,
      description:
        `Streams the log of ${noun}: \`log\` for each line, \`end\` when it has finished. With ` +
        '`Accept: text/plain`, the stored lines are a text file: the time, a space, and the line.',
      query: logQuery,
      response: 'stream',
      events: LogEvents,
      isAlsoText: true,
      handler({ context, params, query, lastEventId, log, request }) {
        const { logs } = context.storage
        const { id } = find(context.storage, params.id)
        const { follow, from = 1, limit, tail = Number.POSITIVE_INFINITY } = query
        const options = {
          after: lastEventId ?? Math.max(from - 1, logs.head(id) - tail),
          limit,
          onError: (error: unknown) => log.error({ id, reason: messageOf(error) }, 'a log could not be read'),
        }
        const isText = request.headers.get('accept')?.startsWith('text/plain')
        return isText
          ? logText(logs, id, options)
          : logEvents(logs, id, { ...options, follow, show: showActorLine })
      },
    })
  const explained =
    why &&
    get(`${path}/why`, {
      ...shared,
      summary: why.summary ?? `Explains why ${noun} failed, and what to do about it`,
      response: Why,
      handler({ context: { storage }, params }) {
        const record = find(storage, params.id)
        return explain(storage, record, { advice: why.advise(record, storage), hasLog: why.hasLog ?? false })
      },
    })
  return [shown, log, history, explained].filter((route) => route !== undefined)
}
