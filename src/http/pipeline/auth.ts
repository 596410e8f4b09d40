// Authenticates a request and checks its origin. Synchronous, so that a GET is answered in its callback. A
// bearer token takes precedence: an invalid one is 401 even with a valid cookie.
import type { Caller } from '../../account/callers.ts'
import { hasRole, reachesService } from '../../account/rights.ts'
import { Failure, invalidRequest } from '../../errors.ts'
import type { Request } from '../server/messages.ts'
import type { HttpContext } from './context.ts'
import { cookiesOf } from './cookies.ts'
import { assertNotForeignRead, assertSameOrigin, hostOf, isFromBrowser, originOf } from './origin.ts'
import type { Route } from './route.ts'

type CredentialSource = Pick<Request, 'address' | 'headers' | 'method' | 'query'>

/** The credential of a request; `caller` is null if it is invalid. */
type Credential = { caller: Caller | null }

/** The caller of a route that is not public, or of a path without a route. Throws `unauthorized`. */
export function authenticate(context: HttpContext, request: Request, query: URLSearchParams): Caller {
  const credential = credentialOf(context, request, query)
  if (!credential) {
    const hint = 'send the header Authorization: Bearer <token>'
    throw new Failure('unauthorized', 'this request needs a credential', hint)
  }
  if (!credential.caller) throw invalidCredential()
  return credential.caller
}

/** Throws `session_required`, `insufficient_role`, `cross_site_request`. */
export function assertRights(
  context: HttpContext,
  request: Request,
  caller: Caller,
  route: Pick<Route, 'response' | 'credential' | 'role' | 'scope'> | undefined,
): void {
  if (route?.credential === 'session' && caller.kind === 'token') {
    const hint = 'sign in with a browser; tokens can do everything else'
    throw new Failure('session_required', 'this needs a signed-in browser', hint)
  }
  if (route) assertRole(context, caller, route)
  if (caller.kind === 'session') assertOwnPage(context, request, route)
}

/** A sibling domain counts as the same site, so browsers send the cookie with requests of its pages. */
function assertOwnPage(
  context: HttpContext,
  request: CredentialSource,
  route: Pick<Route, 'response'> | undefined,
): void {
  // Browsers let any page open a WebSocket to any server, with that server's cookies.
  const isSocket = route?.response === 'socket'
  if (isSocket || isWrite(request)) assertSameOrigin(context, request)
  else assertNotForeignRead(context, request)
}

/** A route without a scope is closed to tokens that are limited to services. */
function assertRole(context: HttpContext, caller: Caller, route: Pick<Route, 'role' | 'scope'>): void {
  if (!hasRole(caller, route.role)) {
    const hint = `create a token with the role ${route.role} on the page /account`
    throw new Failure('insufficient_role', `this needs a token with the role ${route.role}`, hint)
  }
  if (caller.services !== null && route.scope === undefined) throw outOfScope(context, caller)
}

/** For a token that is limited to services. Throws `insufficient_role`, also for what does not exist. */
export function assertServiceInScope(
  context: HttpContext,
  caller: Caller | null,
  { scope }: Pick<Route, 'scope'>,
  params: unknown,
): void {
  if (!caller || caller.services === null || (scope !== 'service' && scope !== 'record')) return
  const { id } = params as { id: string }
  const { actors, services } = context.storage
  const serviceId =
    scope === 'service' ? services.get(id)?.id : (actors.record(id)?.service_id as string | null)
  if (!reachesService(caller, serviceId)) throw outOfScope(context, caller)
}

function outOfScope({ storage }: HttpContext, { services }: Caller): Failure {
  const names = (services ?? []).flatMap((id) => storage.services.get(id)?.name ?? [])
  const reach = names.length === 0 ? 'services that no longer exist' : names.join(', ')
  const hint = 'create a token for this service, or for all services, on the page /account'
  return new Failure('insufficient_role', `this token is limited to ${reach}`, hint)
}

/** Throws `unauthorized` if the credential was revoked or expired while the body arrived. */
export function assertStillValid({ callers }: HttpContext, caller: Caller | null): void {
  if (caller && !callers.isValid(caller)) throw invalidCredential()
}

function invalidCredential(): Failure {
  return new Failure('unauthorized', 'this credential is invalid or has expired')
}

/** The caller of a public route; null also for an invalid credential. */
export function callerOf(context: HttpContext, request: CredentialSource): Caller | null {
  return credentialOf(context, request, new URLSearchParams(request.query))?.caller ?? null
}

/** Prevents other sites from signing a browser in or out. Throws `cross_site_request`. */
export function assertSignInOrigin(context: HttpContext, request: Request): void {
  const isSignedIn = cookiesOf('session', request, originOf(context, request)).length > 0
  if (isFromBrowser(request) || isSignedIn) assertSameOrigin(context, request)
}

/** Throws `invalid_request` for an unknown Host header (DNS rebinding). */
export function assertAllowedHost(context: HttpContext, request: Request): void {
  if (context.allowedHosts(hostOf(context, request))) return
  throw invalidRequest(
    'this server does not serve the host of this request',
    'use the address it listens on, or name the host with --dashboard-host',
  )
}

/** Null if the request has no credential. */
function credentialOf(
  context: HttpContext,
  request: CredentialSource,
  query: URLSearchParams,
): Credential | null {
  const { callers } = context
  const token = bearerOf(request) ?? (isWrite(request) ? null : query.get('access_token'))
  if (token !== null) return { caller: callers.byToken(token) }
  if (!request.headers.has('cookie')) return null
  const secrets = cookiesOf('session', request, originOf(context, request))
  return secrets.length === 0 ? null : { caller: firstValidSession(context, secrets) }
}

/** The session of the request's cookies; null for a token. */
export function sessionOf(context: HttpContext, request: CredentialSource): Caller | null {
  return firstValidSession(context, cookiesOf('session', request, originOf(context, request)))
}

function firstValidSession({ callers }: HttpContext, secrets: readonly string[]): Caller | null {
  for (const secret of secrets) {
    const caller = callers.bySession(secret)
    if (caller) return caller
  }
  return null
}

/** Null without a bearer token or for another scheme. An empty token is invalid, not absent. */
function bearerOf({ headers }: CredentialSource): string | null {
  const [scheme = '', ...rest] = (headers.get('authorization') ?? '').trim().split(/ +/)
  return scheme.toLowerCase() === 'bearer' ? rest.join(' ') : null
}

function isWrite({ method }: CredentialSource): boolean {
  return method !== 'GET' && method !== 'HEAD'
}
