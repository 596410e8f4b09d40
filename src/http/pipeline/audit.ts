// Writes the audit log. The entry of a change is queued before its handler runs, and gets its outcome
// afterwards. Transactions become durable in their order, so no change of the handler can be durable without
// its entry.
import type { AuditEntry } from '../../../storage/audit.ts'
import type { Caller } from '../../account/callers.ts'
import { codeOf, messageOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { aboutOf, actionOf } from '../records/audit-subject.ts'
import { printable, requesterOf } from '../records/requester.ts'
import { decodeParams } from '../server/request-head.ts'
import { createAlikeEntries } from './alike-entries.ts'
import { callerOf } from './auth.ts'
import type { HttpContext } from './context.ts'
import { clientAddressOf } from './origin.ts'
import { toProblem } from './problem.ts'
import type { PendingRequest } from './responses.ts'
import { Page, type Route, WebSocketUpgrade, WithHeaders } from './route.ts'

const maxNames = 50
const nameChars = 100
const userAgentChars = 120
const addressChars = 45

type Outcome = Pick<AuditEntry, 'status' | 'code'>

const clientLeft = { code: 'client_left', status: null }

/** Whether the audit log has an entry for each request. */
export function isAudited({ method, isAudited }: Pick<Route, 'method' | 'isAudited'>): boolean {
  return isAudited ?? method !== 'GET'
}

export function createAuditor(context: HttpContext, logger: Logger) {
  const write = (entry: AuditEntry, former?: AuditEntry) => context.storage.audit.write(entry, former)
  const alike = createAlikeEntries(context.storage.audit)

  /** Not awaited: the entry itself is durable, and its outcome is not worth a delay. */
  function inBackground(writing: Promise<void> | undefined): void {
    writing?.catch((error: unknown) =>
      logger.warn({ reason: messageOf(error) }, 'the audit log could not be written'),
    )
  }

  function complete(pending: PendingRequest, outcome: Partial<AuditEntry>): void {
    const { audited } = pending
    if (!audited) return
    pending.audited = null
    const { entry, notes, shared } = audited
    const done = { ...notes, ...outcome, finished_at: now() }
    inBackground(shared ? alike.complete(shared, entry, done) : write({ ...entry, ...done }, entry))
  }

  return {
    /** Queues the entry. Resolves when it is durable; undefined without a caller, who may get one later. */
    begin(pending: PendingRequest, route: Route, sent: unknown): Promise<void> | undefined {
      if (!isAudited(route)) return undefined
      const caller = pending.caller ?? callerOf(context, pending.request)
      if (caller === null) return undefined
      const entry = { ...entryOf(context, pending, route, caller, sent), changed: namesOf(sent) }
      const shared = isRepeatable(route, caller) ? alike.add(entry) : null
      pending.audited = { entry, notes: {}, shared }
      const writing = shared?.stored ?? write(entry)
      // The handler may fail before anyone waits for it.
      writing.catch(() => undefined)
      return writing
    },

    /** A promise is awaited before the response, which may have a secret that only the client learns. */
    succeeded(pending: PendingRequest, result: unknown): Promise<void> | undefined {
      const { audited } = pending
      // A connection is complete when it ends.
      if (audited && result instanceof WebSocketUpgrade) return undefined
      const route = routeOf(pending)
      if (audited) complete(pending, { ...outcomeOf(route!, result), ...madeBy(audited.entry, result) })
      if (audited || !route?.auditsVisitor) return undefined
      const outcome = outcomeOf(route, result)
      const isRefused = outcome.status! >= 400
      if (!isRefused && !route.auditsVisitor(result)) return undefined
      const entry = { ...entryOf(context, pending, route, null), ...outcome, finished_at: now() }
      const { kind, name } = entry.subject
      if (!isRefused && kind === 'account')
        return write({ ...entry, actor: { kind: 'session', id: null, name } })
      inBackground(alike.add({ ...entry, ...madeBy(entry, result) }).stored)
      return undefined
    },

    failed(pending: PendingRequest, error: unknown): void {
      const { caller, request } = pending
      const { code, status } = codeOf(error) === 'client_left' ? clientLeft : toProblem(error, '').body
      if (pending.audited) {
        complete(pending, { status, code })
        return
      }
      const route = routeOf(pending)
      const isChange = route && isAudited(route) && (caller || route.auditsVisitor)
      // Browsers often come with an old cookie.
      const isOldToken = code === 'unauthorized' && request.headers.has('authorization')
      if (!isChange && !isOldToken) return
      const entry = isChange ? entryOf(context, pending, route, caller) : oldToken(context, pending)
      inBackground(alike.add({ ...entry, status, code, finished_at: now() }).stored)
    },

    /** The end of a connection, such as a shell. */
    ended: (pending: PendingRequest) => complete(pending, { status: 101 }),
  }
}

export type Auditor = ReturnType<typeof createAuditor>

/** Whether a token can do it that is made for programs: what a person does has an entry each time. */
function isRepeatable({ role, response }: Route, caller: Caller): boolean {
  return caller.kind === 'token' && role !== 'admin' && response !== 'socket'
}

function routeOf({ target, request }: PendingRequest): Route | undefined {
  return target?.routes.get(request.method)
}

function entryOf(
  context: HttpContext,
  pending: PendingRequest,
  route: Route,
  caller: Caller | null,
  sent?: unknown,
): AuditEntry {
  const form = route.isPage
    ? { ...Object.fromEntries(new URLSearchParams(pending.request.query)), ...(sent as object) }
    : {}
  const { act, id } = form as { act?: unknown; id?: unknown }
  const formId = typeof id === 'string' ? id : null
  const body = route.isPage ? null : sent
  return {
    ...blankOf(context, pending, caller),
    action: actionOf(route, typeof act === 'string' ? act : null),
    ...aboutOf(context, route, { params: rawParams(pending), body, formId }),
  }
}

/** Refused requests may have invalid ones. */
function rawParams({ target, request }: PendingRequest): Record<string, string> {
  try {
    return decodeParams(target!.paramNames, request.params)
  } catch {
    return {}
  }
}

function oldToken(context: HttpContext, pending: PendingRequest): AuditEntry {
  const about = { subject: { kind: 'token', id: null, name: null }, service_id: null, service_name: null }
  return { ...blankOf(context, pending, null), action: 'token.refused', ...about }
}

function blankOf(context: HttpContext, { request, requestId }: PendingRequest, caller: Caller | null) {
  const agent = request.headers.get('user-agent')
  return {
    ...context.storage.audit.newEntry(),
    actor: actorOf(context, caller),
    address: printable(clientAddressOf(context, request)).slice(0, addressChars) || null,
    user_agent: agent === undefined ? null : printable(agent, userAgentChars),
    request_id: requestId,
  }
}

function actorOf(context: HttpContext, caller: Caller | null): AuditEntry['actor'] {
  if (caller === null) return { kind: 'visitor', id: null, name: null }
  if (caller.kind === 'session') {
    return { kind: 'session', id: caller.id, name: context.administrator.get()?.email ?? null }
  }
  const { kind, name } = requesterOf({ caller, context })
  return { kind: kind === 'terminal' ? kind : 'token', id: caller.id, name }
}

function outcomeOf(route: Route, result: unknown): Outcome {
  const own = result instanceof Page || result instanceof WithHeaders ? result.status : undefined
  return { status: own ?? route.status, code: null }
}

/** Names of the fields and of the variables in a body. Texts in lists are values, except names to remove. */
function namesOf(sent: unknown): string[] {
  if (typeof sent !== 'object' || sent === null) return []
  const names = Object.entries(sent).flatMap(([field, value]) => {
    const keys = Array.isArray(value) ? value.slice(0, maxNames + 1).map((one) => keyOf(field, one)) : []
    return keys.length > 0 && keys.every((key) => key !== null)
      ? keys.map((key) => `${field}.${key}`)
      : [field]
  })
  const shown = names.slice(0, maxNames).map((name) => printable(name, nameChars))
  return names.length > maxNames ? [...shown, '…'] : shown
}

function keyOf(field: string, one: unknown): string | null {
  if (typeof one === 'string') return field === 'unset' ? one : null
  const { key } = (one ?? {}) as { key?: unknown }
  return typeof key === 'string' ? key : null
}

function madeBy({ subject, ...owner }: AuditEntry, result: unknown): Partial<AuditEntry> {
  const body = (result instanceof WithHeaders ? result.body : result) as MadeBody
  const id = body?.id ?? body?.api_token?.id
  if (typeof id !== 'string' || id === subject.id) return {}
  if (subject.id !== null || subject.kind === 'account') return { created: id }
  const { service_id, service_name } = owner
  const isOwner = subject.kind === 'service' || subject.kind === 'datastore'
  const own = isOwner ? { service_id: id, service_name: subject.name } : { service_id, service_name }
  return { subject: { ...subject, id }, ...own }
}

type MadeBody = { id?: unknown; api_token?: { id?: unknown } } | null | undefined

function now(): string {
  return new Date().toISOString()
}
