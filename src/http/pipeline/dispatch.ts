// Processes a request: head, host, credential, route, input, handler. Authentication precedes routing. A
// request with a synchronous handler is answered within its uWS callback.
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { sharedTurns } from '../../async/shared-turns.ts'
import { Failure, invalidRequest, notFound } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { clientOf } from '../rules/terminal-login-limit.ts'
import { contentLengthOf } from '../server/body.ts'
import { BodyMemory } from '../server/body-memory.ts'
import type { Request, Response } from '../server/messages.ts'
import { assertContentLength, assertValidHead, decodeParams, parseQuery } from '../server/request-head.ts'
import { type Auditor, createAuditor } from './audit.ts'
import {
  assertAllowedHost,
  assertRights,
  assertServiceInScope,
  assertSignInOrigin,
  assertStillValid,
  authenticate,
} from './auth.ts'
import type { HttpContext } from './context.ts'
import { createIdempotency, type Idempotency, keyScopeOf, toKeyedRequest } from './idempotency.ts'
import { clientAddressOf, edgeRequestId } from './origin.ts'
import { createResponders, type PendingRequest } from './responses.ts'
import { type Call, isApiPath, type Route, type Target, type Upload, WebSocketUpgrade } from './route.ts'
import type { StreamGuard } from './stream-guard.ts'
import { assertUploadType, bodyLimitOf, parseBody, parseForm, validate } from './validation.ts'

const mebibyte = 1024 * 1024

function createBodyMemory() {
  return {
    /** Also of git providers: their deliveries have up to 4 MiB. */
    strangers: new BodyMemory({ totalBytes: 64 * mebibyte, clientBytes: 8 * mebibyte }),
    callers: new BodyMemory({ totalBytes: 128 * mebibyte, clientBytes: 32 * mebibyte }),
  }
}

interface DispatchParts {
  auditor: Auditor
  bodyMemory: ReturnType<typeof createBodyMemory>
  context: HttpContext
  idempotency: Idempotency
  logger: Logger
  streams: StreamGuard
}

export function createDispatcher(context: HttpContext, logger: Logger, streams: StreamGuard) {
  const responders = createResponders(context.version, logger, streams)
  const auditor = createAuditor(context, logger)
  const idempotency = createIdempotency(context.storage.events)
  const parts = { auditor, bodyMemory: createBodyMemory(), context, logger, streams, idempotency }
  const bootId = randomBytes(6).toString('hex')
  let count = 0

  return function dispatch(target: Target | null, request: Request, response: Response): void {
    const requestId = edgeRequestId(context, request) ?? `${bootId}-${(++count).toString(36)}`
    const startedAt = performance.now()
    const pending: PendingRequest = {
      request,
      response,
      target,
      requestId,
      startedAt,
      isHeadChecked: false,
      caller: null,
      audited: null,
    }
    const fail = (error: unknown) => {
      auditor.failed(pending, error)
      responders.fail(pending, error)
    }
    const succeed = (result: unknown) => {
      const written = auditor.succeeded(pending, result)
      if (written) return written.then(() => responders.succeed(pending, result))
      responders.succeed(pending, result)
    }
    try {
      const result = processRequest(parts, pending)
      if (result instanceof Promise) result.then(succeed).catch(fail)
      else succeed(result)?.catch(fail)
    } catch (error) {
      fail(error)
    }
  }
}

function processRequest(parts: DispatchParts, pending: PendingRequest): unknown {
  const { context, logger: log, streams } = parts
  const { request, target, requestId } = pending
  assertValidHead(request)
  pending.isHeadChecked = true
  const route = target?.routes.get(request.method)
  if (!route?.upload) assertContentLength(request)
  assertAllowedHost(context, request)
  const query = parseQuery(request.query)
  if (!isPublic(request, target, route)) {
    pending.caller = authenticate(context, request, query)
    if (pending.caller.kind === 'token') context.noteUse(pending.caller, clientAddressOf(context, request))
    assertRights(context, request, pending.caller, route)
  } else if (route?.checksOrigin) assertSignInOrigin(context, request)
  const { caller } = pending
  if (!target) throw notFound(`there is nothing at ${request.path}`)
  if (!route) return handleUnsupportedMethod(request, target)
  // Refuses an announced body that is too large, before anything else.
  contentLengthOf(request.headers, bodyLimitOf(route))
  if (route.response === 'socket') assertUpgrade(request)
  const params = route.params && validate(route.params, decodeParams(target.paramNames, request.params))
  assertServiceInScope(context, caller, route, params)
  const queryParams = validQuery(route, query)
  const keyScope = route.acceptsIdempotencyKey === false ? undefined : keyScopeOf(request, caller)
  const lastEventId = lastEventIdOf(request)
  const call: Call = {
    context,
    caller,
    request,
    streams,
    log,
    requestId,
    params,
    query: queryParams,
    body: undefined,
    eventId: undefined,
    lastEventId,
    recorded: Promise.resolve(),
    note: (notes) => void Object.assign(pending.audited?.notes ?? {}, notes),
  }
  return runHandler(parts, route, pending, call, keyScope)
}

/** Under /api, unknown paths also need a credential. */
function isPublic({ path }: Request, target: Target | null, route: Route | undefined): boolean {
  if (route) return route.credential === 'public'
  return target ? target.isPublic : !isApiPath(path)
}

function handleUnsupportedMethod({ method }: Request, target: Target): undefined {
  if (method === 'OPTIONS') return undefined
  throw new Failure('method_not_allowed', `${target.path} supports only ${target.allow}`)
}

function assertUpgrade({ isUpgrade }: Request): void {
  if (isUpgrade) return
  const hint = 'a proxy in between must forward the headers Upgrade and Connection'
  throw invalidRequest('this path is a WebSocket, and the request has no Upgrade header', hint)
}

function lastEventIdOf({ headers }: Request): number | undefined {
  const text = headers.get('last-event-id')
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** The schema of a body or query without fields: any key is rejected. */
const noFields = z.strictObject({})

/** Reads the body if the route has one, and runs the handler once per `Idempotency-Key`. */
function runHandler(
  parts: DispatchParts,
  route: Route,
  pending: PendingRequest,
  call: Call,
  keyScope: string | undefined,
): unknown {
  const { request } = pending
  const handle = (given: Partial<Call>, sent?: unknown) =>
    runAudited(parts, route, pending, { ...call, ...given }, sent)
  if (!route.upload && !route.body && route.method !== 'POST') return handle({})
  const run = (sent: Buffer | number | null, toBody: () => unknown, fields?: unknown) => {
    const act = (eventId?: string) => handle({ eventId, body: toBody() }, fields)
    if (keyScope === undefined) return act()
    const { replay } = route
    const show = replay && ((stored: unknown) => replay(call.context, (stored as { id: string }).id))
    return parts.idempotency.runOnce(toKeyedRequest(keyScope, request.query, sent), act, show)
  }
  if (route.ignoresBody) return run(null, () => undefined)
  const collect = collectorOf(parts.bodyMemory, route, request, call)
  if (route.upload) {
    const upload = uploadOf(route, request, collect, () => assertStillValid(call.context, call.caller))
    return run(upload.contentLength, () => upload)
  }
  return collect((bytes, client) => {
    const act = (sent: unknown) => {
      assertStillValid(call.context, call.caller)
      return run(bytes, () => validate(route.body ?? noFields, sent), sent)
    }
    const sent = route.isPage ? parseForm(request, bytes) : parseBody(request, bytes, client)
    return sent instanceof Promise
      ? sent.then((value) => sharedTurns.run(client, () => act(value)))
      : act(sent)
  })
}

/** Bodies are read in turns: parsing the bodies of all ready sockets at once would stop everything else. */
function collectorOf(
  memory: DispatchParts['bodyMemory'],
  route: Route,
  request: Request,
  { context, caller }: Call,
): Upload['collect'] {
  const client = caller?.id ?? clientOf(clientAddressOf(context, request))
  return async (use) => {
    const hold = memory[caller ? 'callers' : 'strangers'].open(client)
    try {
      const bytes = await request.readBody(bodyLimitOf(route), hold)
      return await sharedTurns.run(client, () => use(bytes, client))
    } finally {
      hold.release()
    }
  }
}

/** The response waits for the entry in the audit log. An upgrade cannot: its handler waits before it acts. */
function runAudited(
  { auditor }: DispatchParts,
  route: Route,
  pending: PendingRequest,
  call: Call,
  sent: unknown,
): unknown {
  const begun = auditor.begin(pending, route, sent)
  if (!begun) return route.handler(call)
  const result = route.handler({ ...call, recorded: begun })
  if (result instanceof WebSocketUpgrade) return withEnd(result, () => auditor.ended(pending))
  return Promise.all([result, begun]).then(([value]) => value)
}

function withEnd(opened: WebSocketUpgrade, onEnd: () => void): WebSocketUpgrade {
  return new WebSocketUpgrade((socket) => {
    socket.onClose(onEnd)
    opened.start(socket)
  })
}

function uploadOf(
  route: Route,
  request: Request,
  collect: Upload['collect'],
  checkCaller: () => void,
): Upload {
  assertUploadType(request, route.upload!.mediaTypes)
  const limitBytes = bodyLimitOf(route)
  return {
    collect,
    contentLength: contentLengthOf(request.headers, limitBytes),
    async receive(sink) {
      const sizeBytes = await request.receive(limitBytes, sink)
      checkCaller()
      return sizeBytes
    },
  }
}

/** Monitors may add any query to public routes. The credential is not a parameter of any route. */
function validQuery({ credential, query: schema }: Route, query: URLSearchParams): unknown {
  if (!schema && (credential === 'public' || query.size === 0)) return undefined
  const fields = [...query].filter(([name]) => name !== 'access_token')
  return validate(schema ?? noFields, Object.fromEntries(fields))
}
