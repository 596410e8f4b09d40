// The way of every request: head, host, credential, route, input, handler.
// Authentication comes before routing; a GET that need not wait is answered inside its own callback.
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { Failure } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { announcedBytes } from '../server/body.ts'
import type { Request, Response } from '../server/messages.ts'
import { checkHead, decodeParams, parseQuery, requireLength } from '../server/request-head.ts'
import { authenticate, checkHost, guardSignIn, refuseEnded, requireService } from './auth.ts'
import type { HttpContext } from './context.ts'
import { createIdempotency, type Idempotency, keyScopeOf, repeatable } from './idempotency.ts'
import { createAnswers, type Visit } from './responses.ts'
import { type Call, isBelowApi, type Route, type Upload } from './route.ts'
import type { StreamGuard } from './stream-guard.ts'
import type { Target } from './target.ts'
import { checkUploadType, defaultBodyLimitBytes, parseBody, parseForm, validate } from './validation.ts'

interface DispatchParts {
  context: HttpContext
  idempotency: Idempotency
  logger: Logger
  streams: StreamGuard
}

/** Makes the listener that answers every request of a server. */
export function createDispatcher(context: HttpContext, logger: Logger, streams: StreamGuard) {
  const answers = createAnswers(context.version, logger, streams)
  const parts = { context, logger, streams, idempotency: createIdempotency(context.storage.events) }
  const boot = randomBytes(6).toString('hex')
  let count = 0

  return function dispatch(target: Target | null, request: Request, response: Response): void {
    const requestId = `${boot}-${(++count).toString(36)}`
    const startedAt = performance.now()
    const visit: Visit = {
      request,
      response,
      target,
      requestId,
      startedAt,
      isHeadChecked: false,
      caller: null,
    }
    try {
      const result = decide(parts, visit)
      if (result instanceof Promise) {
        result.then((value) => answers.succeed(visit, value)).catch((error) => answers.fail(visit, error))
      } else answers.succeed(visit, result)
    } catch (error) {
      answers.fail(visit, error)
    }
  }
}

/** What to answer, or the promise of it. Throws whatever refuses the request. */
function decide(parts: DispatchParts, visit: Visit): unknown {
  const { context, logger: log, streams } = parts
  const { request, target, requestId } = visit
  checkHead(request)
  visit.isHeadChecked = true
  const route = target?.routes.get(request.method)
  if (!route?.upload) requireLength(request)
  checkHost(context, request)
  const query = parseQuery(request.query)
  if (!isPublic(request, target, route)) {
    visit.caller = authenticate(context, request, query, route)
  } else if (route?.isGuarded) guardSignIn(context, request)
  const { caller } = visit
  if (!target) throw new Failure('not_found', `there is nothing at ${request.path}`)
  if (!route) return refuseMethod(request, target)
  if (route.answer === 'socket') requireUpgrade(request)
  const params = route.params && validate(route.params, decodeParams(target.paramNames, request.params))
  requireService(context, caller, route, params)
  const asked = askedOf(route, query)
  const keyScope = route.isRepeatable === false ? undefined : keyScopeOf(request, caller)
  const lastEventId = lastEventIdOf(request)
  const call: Call = {
    context,
    caller,
    request,
    streams,
    log,
    requestId,
    params,
    query: asked,
    body: undefined,
    eventId: undefined,
    lastEventId,
  }
  return perform(parts, route, request, call, keyScope)
}

/** Under /api, unknown paths also need a credential. */
function isPublic({ path }: Request, target: Target | null, route: Route | undefined): boolean {
  if (route) return route.credential === 'public'
  return target ? target.isPublic : !isBelowApi(path)
}

function refuseMethod({ method }: Request, target: Target): undefined {
  if (method === 'OPTIONS') return undefined
  throw new Failure('method_not_allowed', `${target.path} supports only ${target.allow}`)
}

function requireUpgrade({ isUpgrade }: Request): void {
  if (isUpgrade) return
  const hint = 'a proxy in between must forward the headers Upgrade and Connection'
  throw new Failure(
    'invalid_request',
    'this path is a WebSocket, and the request has no Upgrade ' + 'header',
    hint,
  )
}

function lastEventIdOf({ headers }: Request): number | undefined {
  const text = headers.get('last-event-id')
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** For a body or query without fields: any key is a mistake, and is reported. */
const nothing = z.strictObject({})

/** Reads the body, if the route takes one, and runs the handler: once for an `Idempotency-Key`. */
function perform(
  parts: DispatchParts,
  route: Route,
  request: Request,
  call: Call,
  keyScope: string | undefined,
): unknown {
  if (!route.upload && !route.body && route.method !== 'POST') return route.handler(call)
  const run = (sent: Buffer | number | null, toBody: () => unknown) => {
    const act = (eventId?: string) => route.handler({ ...call, eventId, body: toBody() })
    if (keyScope === undefined) return act()
    const show = route.repeat && ((stored: unknown) => route.repeat!(call.context, stored as { id: string }))
    return parts.idempotency.once(repeatable(keyScope, request.query, sent), act, show)
  }
  if (route.upload) {
    const upload = uploadOf(route.upload, request, () => refuseEnded(call.context, call.caller))
    return run(upload.announcedBytes, () => upload)
  }
  const handle = (bytes: Buffer) => {
    refuseEnded(call.context, call.caller)
    const sent = route.isPage ? parseForm(request, bytes) : parseBody(request, bytes)
    return run(bytes, () => validate(route.body ?? nothing, sent))
  }
  const bytes = request.readBody(route.bodyLimitBytes ?? defaultBodyLimitBytes)
  return bytes instanceof Promise ? bytes.then(handle) : handle(bytes)
}

function uploadOf(
  { mediaTypes, limitBytes }: NonNullable<Route['upload']>,
  request: Request,
  checkCaller: () => void,
): Upload {
  checkUploadType(request, mediaTypes)
  return {
    announcedBytes: announcedBytes(request.headers, limitBytes),
    async receive(sink) {
      const sizeBytes = await request.receive(limitBytes, sink)
      checkCaller()
      return sizeBytes
    },
  }
}

/** Monitors may add any query to public routes. The credential is not a parameter of any route. */
function askedOf({ credential, query: schema }: Route, query: URLSearchParams): unknown {
  if (!schema && (credential === 'public' || query.size === 0)) return undefined
  const fields = [...query].filter(([name]) => name !== 'access_token')
  return validate(schema ?? nothing, Object.fromEntries(fields))
}
