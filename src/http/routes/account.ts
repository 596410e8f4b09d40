// The account, its sessions and its API tokens. The token itself is returned once and never stored.
import { z } from 'zod'
import type { SessionRow, TokenRow } from '../../../storage/access/hashed-tokens.ts'
import type { Storage } from '../../../storage/index.ts'
import type { SignedIn } from '../../account/administrator.ts'
import { type Grant, createToken as makeToken } from '../../account/api-tokens.ts'
import { sessionEndMs } from '../../account/callers.ts'
import {
  AuthStatus,
  ChangePassword,
  CreatedToken,
  CreateToken,
  Login,
  NewAccount,
  Session,
  SessionParams,
  Setup,
  Token,
  TokenParams,
} from '../../api/access/account.ts'
import { invalidField, notFound } from '../../errors.ts'
import { callerOf } from '../pipeline/auth.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { cookiesOf, setCookie } from '../pipeline/cookies.ts'
import { originOf } from '../pipeline/origin.ts'
import { type Call, type CallById, del, get, post, tagged, WithHeaders } from '../pipeline/route.ts'
import { validate } from '../pipeline/validation.ts'
import type { HeaderList } from '../server/messages.ts'
import { accountPost } from './record-routes.ts'

type RequestCall = Pick<Call, 'context' | 'request'>

export const accountRoutes = tagged('Account', [
  get('/auth/status', {
    credential: 'public',
    summary: 'Shows how this request is authenticated, and whether the server has its account',
    response: AuthStatus,
    handler({ context, request }) {
      const caller = callerOf(context, request)
      return authStatusFor(context, caller?.kind ?? null)
    },
  }),
  post('/auth/setup', {
    ...accountPost,
    credential: 'public',
    checksOrigin: true,
    summary: 'Creates the account of a new server, and signs the browser in',
    body: Setup,
    response: AuthStatus,
    status: 201,
    problems: ['already_set_up', 'invalid_setup_code'],
    setsCookie: true,
    auditsVisitor: () => true,
    handler: setUp,
  }),
  post('/auth/login', {
    ...accountPost,
    credential: 'public',
    checksOrigin: true,
    summary: 'Signs the browser in; limited to 10 failed attempts in 5 minutes',
    body: Login,
    response: AuthStatus,
    problems: ['conflict', 'invalid_credentials', 'too_many_attempts'],
    setsCookie: true,
    auditsVisitor: () => true,
    handler: login,
  }),
  post('/auth/logout', {
    ...accountPost,
    credential: 'public',
    checksOrigin: true,
    summary: 'Ends the session of the cookie; also succeeds without a session',
    setsCookie: true,
    handler: logout,
  }),
  post('/auth/password', {
    ...accountPost,
    credential: 'session',
    summary: 'Changes the password, ends all other sessions, and on request revokes all tokens',
    body: ChangePassword,
    problems: ['invalid_credentials', 'too_many_attempts'],
    setsCookie: true,
    handler: changePassword,
  }),
])

async function setUp(call: Call<unknown, unknown, Setup>): Promise<WithHeaders<AuthStatus>> {
  return signedInResponse(call, await signUp(call, call.body))
}

/** Checks the setup code before the other fields. */
export async function signUp(
  { context, request }: RequestCall,
  { code, ...given }: Setup,
): Promise<SignedIn> {
  context.administrator.assertSetupCode(code)
  const account = validate(NewAccount, given)
  return context.administrator.setUp(account, request.headers.get('user-agent'))
}

async function login(call: Call<unknown, unknown, Login>): Promise<WithHeaders<AuthStatus>> {
  return signedInResponse(call, await signIn(call, call.body))
}

export async function logout(call: RequestCall & Pick<Call, 'streams'>): Promise<WithHeaders<undefined>> {
  const origin = originOf(call.context, call.request)
  const { sessions } = call.context.storage
  for (const secret of cookiesOf('session', call.request, origin)) {
    const session = sessions.bySecret(secret)
    if (session) await sessions.remove(session.id)
  }
  call.streams.check()
  // The browser is still a known device at its next sign-in.
  return new WithHeaders(undefined, [setCookie('session', origin, null)])
}

export async function changePassword(
  call: Pick<Call<unknown, unknown, ChangePassword>, 'body' | 'caller' | 'context' | 'request' | 'streams'>,
): Promise<WithHeaders<undefined>> {
  const { current_password: current, new_password: next, revoke_tokens: revokeTokens = false } = call.body
  const change = { current, next, revokeTokens }
  const device = await call.context.administrator.changePassword(call.caller!.id, change)
  call.streams.check()
  return new WithHeaders(undefined, [setCookie('device', originOf(call.context, call.request), device)])
}

function signedInResponse(call: RequestCall, made: SignedIn): WithHeaders<AuthStatus> {
  return new WithHeaders(authStatusFor(call.context, 'session'), cookiesFor(call, made))
}

/** Only a session gets the e-mail address of the account; a token does not need it. */
function authStatusFor({ administrator }: HttpContext, auth: AuthStatus['auth']): AuthStatus {
  const account = administrator.get()
  const { id, email, created_at } = account ?? {}
  const isShown = auth === 'session' && id && email && created_at
  return { auth, setup_required: account === null, user: isShown ? { id, email, created_at } : null }
}

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
  return new WithHeaders(undefined, isOwn ? [setCookie('session', originOf(context, request), null)] : [])
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

export const tokenRoutes = tagged('Account', [
  get('/auth/tokens', {
    credential: 'session',
    summary: 'Lists the API tokens, newest first, without the server token',
    response: z.array(Token),
    handler: listTokens,
  }),
  post('/auth/tokens', {
    ...accountPost,
    credential: 'session',
    summary: 'Creates an API token; the token itself is returned only here',
    body: CreateToken,
    response: CreatedToken,
    status: 201,
    handler: createToken,
  }),
  del('/auth/tokens/{id}', {
    credential: 'session',
    summary: 'Revokes an API token, effective immediately',
    params: TokenParams,
    handler: deleteToken,
  }),
])

export function listTokens({ context: { storage } }: Pick<Call, 'context'>): Token[] {
  return storage.tokens.list().map((row) => toToken(storage, row))
}

export async function createToken(call: Call<unknown, unknown, CreateToken>): Promise<CreatedToken> {
  const { storage } = call.context
  const { name, ...asked } = call.body
  const grant = toGrant(storage, asked)
  const at = new Date().toISOString()
  const { row, token } = await makeToken(storage, { id: storage.ids.newId('tok'), name, at, grant })
  return { api_token: toToken(storage, row), token }
}

export async function deleteToken(
  call: Pick<CallById, 'context' | 'params' | 'streams'>,
): Promise<undefined> {
  const { context, params, streams } = call
  if (!(await context.storage.tokens.remove(params.id))) throw notFound('there is no such token')
  streams.check()
}

function toToken(storage: Storage, row: TokenRow): Token {
  const { id, name, hint, role, created_at, expires_at, last_used_at } = row
  const services = row.services?.map((service) => storage.services.get(service)?.name ?? service) ?? null
  return { id, name, hint, role, services, created_at, expires_at, last_used_at }
}

/** Throws `invalid_request` for an unknown service, and for an admin token that is limited to services. */
export function toGrant(storage: Storage, requested: Omit<CreateToken, 'name'>): Grant {
  const { role, services, expires_in_days: expiresInDays = null } = requested
  if (services === undefined) return { role, services: null, expiresInDays }
  if (role === 'admin') throw invalidField('services', 'an admin token cannot be limited to services')
  const ids = services.map((idOrName) => {
    const row = storage.services.get(idOrName)
    if (!row) throw invalidField('services', `there is no service ${idOrName}`)
    return row.id
  })
  return { role, services: [...new Set(ids)], expiresInDays }
}

export function signIn({ context, request }: RequestCall, login: Login): Promise<SignedIn> {
  const devices = cookiesOf('device', request, originOf(context, request))
  return context.administrator.signIn(login, request.headers.get('user-agent'), devices)
}

export function cookiesFor({ context, request }: RequestCall, { secret, device }: SignedIn): HeaderList {
  const origin = originOf(context, request)
  return [setCookie('session', origin, secret), setCookie('device', origin, device)]
}
