// Sessions: the browsers that are signed in.
import { z } from 'zod'
import type { SessionRow } from '../../../storage/access/sessions.ts'
import { sessionEndMs } from '../../account/callers.ts'
import { Session, SessionParams } from '../../api/access/session.ts'
import { notFound } from '../../errors.ts'
import { clearedCookie } from '../pipeline/cookies.ts'
import { originOf } from '../pipeline/origin.ts'
import { type Call, type CallById, del, get, tagged, WithHeaders } from '../pipeline/route.ts'

export const sessionRoutes = tagged('Account', [
  get('/auth/sessions', {
    credential: 'session',
    summary: 'Lists the sessions, last used first',
    response: z.array(Session),
    handler: listSessions,
  }),
  del('/auth/sessions', {
    credential: 'session',
    summary: 'Ends all sessions except the one of this request',
    handler: deleteOtherSessions,
  }),
  del('/auth/sessions/{id}', {
    credential: 'session',
    summary: 'Ends a session, including the one of this request',
    params: SessionParams,
    setsCookie: true,
    handler: deleteSession,
  }),
])

export function listSessions({ context: { storage }, caller }: Pick<Call, 'caller' | 'context'>): Session[] {
  const now = Date.now()
  const rows = storage.sessions.list().filter((row) => sessionEndMs(row) > now)
  // The current request's use of its session is recorded in the background, so it is set here.
  const used = { last_used_at: new Date(now).toISOString() }
  const open = rows.map((row) => (row.id === caller!.id ? { ...row, ...used } : row))
  const byUse = open.sort((a, b) => Date.parse(b.last_used_at) - Date.parse(a.last_used_at))
  return byUse.map((row) => toSession(row, caller!.id))
}

/** Deleting the session of this request signs the browser out. */
export async function deleteSession(
  call: Pick<CallById, 'caller' | 'context' | 'params' | 'request' | 'streams'>,
): Promise<WithHeaders<undefined>> {
  const { caller, context, params, request, streams } = call
  if (!(await context.storage.sessions.remove(params.id))) throw notFound('there is no such session')
  streams.check()
  const isOwn = params.id === caller!.id
  return new WithHeaders(undefined, isOwn ? [clearedCookie(originOf(context, request))] : [])
}

export async function deleteOtherSessions({
  caller,
  context,
  streams,
}: Pick<Call, 'caller' | 'context' | 'streams'>): Promise<undefined> {
  await context.storage.sessions.removeWhere(({ id }) => id !== caller!.id)
  streams.check()
}

function toSession(row: SessionRow, currentId: string): Session {
  const { id, created_at, last_used_at, user_agent } = row
  const expires_at = new Date(sessionEndMs(row)).toISOString()
  return { id, created_at, expires_at, last_used_at, user_agent, current: id === currentId }
}
