// Terminal logins: requested, approved on a page, polled. To the terminal, an expired one looks unknown.
import type { TerminalLoginInput, TerminalLoginRecord } from '../../../machines/terminal-login.ts'
import type { Caller } from '../../account/callers.ts'
import { hashOf, matchesHash, newSecret } from '../../account/secrets.ts'
import { newCode } from '../../account/terminal-logins.ts'
import {
  ApproveTerminalLogin,
  PolledTerminalLogin,
  PollTerminalLogin,
  StartedTerminalLogin,
  StartTerminalLogin,
  TerminalLogin,
  TerminalLoginParams,
} from '../../api/access/terminal-login.ts'
import { Failure, notFound } from '../../errors.ts'
import { assertStillValid } from '../pipeline/auth.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { clientAddressOf } from '../pipeline/origin.ts'
import { type Call, type CallById, get, post, tagged } from '../pipeline/route.ts'
import { command } from '../records/requester.ts'
import { takeTerminalLogin } from '../rules/terminal-login-limit.ts'
import { toGrant } from './account.ts'
import { accountPost } from './record-routes.ts'

const lifetimeSeconds = 600
const intervalSeconds = 2
const freshSessionMs = 10 * 60_000
const defaultName = 'berth in a terminal'

type Approval = Pick<CallById<unknown, ApproveTerminalLogin>, 'body' | 'caller' | 'context' | 'params'>

export const terminalLoginRoutes = tagged('Terminal login', [
  post('/auth/cli', {
    ...accountPost,
    credential: 'public',
    // A terminal sends no Origin; another site's page must not use up its turns.
    checksOrigin: true,
    summary: 'Requests a token, which the administrator approves at /cli-login?id=… within ten minutes',
    body: StartTerminalLogin,
    response: StartedTerminalLogin,
    status: 201,
    problems: ['conflict', 'invalid_start_code', 'too_many_attempts'],
    auditsVisitor: () => true,
    handler: startTerminalLogin,
  }),
  get('/auth/cli/{id}', {
    credential: 'session',
    summary: 'Returns a terminal login, with the code that the terminal shows',
    params: TerminalLoginParams,
    response: TerminalLogin,
    handler: getTerminalLogin,
  }),
  post('/auth/cli/{id}/approve', {
    ...accountPost,
    credential: 'session',
    summary: 'Approves a terminal login; a person first compares its code with that in the terminal',
    params: TerminalLoginParams,
    body: ApproveTerminalLogin,
    response: TerminalLogin,
    problems: ['invalid_credentials', 'password_required', 'too_many_attempts'],
    handler: approveTerminalLogin,
  }),
  post('/auth/cli/{id}/deny', {
    ...accountPost,
    credential: 'session',
    summary: 'Denies a terminal login',
    params: TerminalLoginParams,
    response: TerminalLogin,
    handler: denyTerminalLogin,
  }),
  post('/auth/cli/{id}/token', {
    ...accountPost,
    credential: 'public',
    summary: 'Returns the outcome; the token comes once, with `approved`, and ends the request',
    params: TerminalLoginParams,
    body: PollTerminalLogin,
    response: PolledTerminalLogin,
    problems: ['invalid_secret', 'slow_down'],
    // A terminal asks every two seconds.
    auditsVisitor: (login) => (login as PolledTerminalLogin).status !== 'pending',
    handler: pollTerminalLogin,
  }),
])

async function startTerminalLogin(
  call: Pick<Call<unknown, unknown, StartTerminalLogin>, 'body' | 'context' | 'request'>,
): Promise<StartedTerminalLogin> {
  const { context, request, body } = call
  context.administrator.requireAccount()
  const address = clientAddressOf(context, request)
  takeTerminalLogin(context, address, body.start_code || null)
  const now = Date.now()
  const secret = newSecret()
  const input: TerminalLoginInput = {
    id: context.storage.ids.newId('cli'),
    bootId: context.terminalLogins.bootId,
    code: newCode(2),
    name: body.name || defaultName,
    secretHash: hashOf(secret),
    address,
    at: new Date(now).toISOString(),
    expiresAt: new Date(now + lifetimeSeconds * 1000).toISOString(),
  }
  const { id, code } = input
  await context.actors.spawn('terminal-login', id, input)
  return { id, code, secret, expires_in: lifetimeSeconds, interval: intervalSeconds }
}

export function getTerminalLogin({ context, params }: Pick<CallById, 'context' | 'params'>): TerminalLogin {
  return toTerminalLogin(find(context, params.id))
}

/** Throws `password_required` for an older session, whose browser may be unattended. */
export async function approveTerminalLogin(call: Approval): Promise<TerminalLogin> {
  const { body, caller, context, params } = call
  const { password, ...asked } = body
  find(context, params.id)
  const grant = toGrant(context.storage, asked)
  if (password !== undefined) await context.administrator.checkPassword(password)
  else if (needsPassword(context, caller!)) {
    const hint = 'send it as `password`'
    throw new Failure('password_required', 'this session began a while ago: the password is needed', hint)
  }
  assertStillValid(context, caller)
  return toTerminalLogin(await settle(context, params.id, command(call, 'approve', { grant })))
}

export function needsPassword({ storage }: HttpContext, { id }: Pick<Caller, 'id'>): boolean {
  const session = storage.sessions.byId(id)
  return !session || Math.abs(Date.now() - Date.parse(session.created_at)) > freshSessionMs
}

export async function denyTerminalLogin(
  call: Pick<CallById, 'caller' | 'context' | 'params'>,
): Promise<TerminalLogin> {
  const { context, params } = call
  find(context, params.id)
  return toTerminalLogin(await settle(context, params.id, command(call, 'deny')))
}

async function pollTerminalLogin(
  call: Pick<CallById<unknown, PollTerminalLogin>, 'body' | 'context' | 'params'>,
): Promise<PolledTerminalLogin> {
  const { context, params, body } = call
  const record = find(context, params.id)
  if (!matchesHash(body.secret, record.secret_hash)) {
    throw new Failure('invalid_secret', 'this is not the secret of this terminal login')
  }
  context.terminalLogins.recordPoll(record.id)
  if (record.status === 'denied') {
    await settle(context, record.id, terminalEvent('tell'))
    return { status: 'denied' }
  }
  if (!record.is_collectable) return { status: 'pending' }
  await settle(context, record.id, terminalEvent('collect'))
  const token = context.terminalLogins.uncollected.get(record.id)
  context.terminalLogins.uncollected.delete(record.id)
  if (token === undefined) throw unknownLogin()
  return { status: 'approved', token }
}

/** An event from the terminal, which authenticates with the secret of its login. */
function terminalEvent(type: string) {
  return { type, at: new Date().toISOString(), by: 'the terminal' }
}

/** Throws `not_found` if the request was settled in the meantime. */
async function settle(
  context: HttpContext,
  id: string,
  event: Parameters<HttpContext['actors']['send']>[1],
): Promise<TerminalLoginRecord> {
  const { applied, record } = await context.actors.send<'terminal-login'>(id, event)
  if (!applied) throw unknownLogin()
  return record
}

/** Throws `not_found` also for a login that expired, ended, or is from before a restart of the daemon. */
function find(context: HttpContext, id: string): TerminalLoginRecord {
  const record = id.startsWith('cli-') ? context.storage.actors.record<'terminal-login'>(id) : null
  if (!record || !isOpen(context, record)) throw unknownLogin()
  return record
}

function isOpen({ terminalLogins }: HttpContext, record: TerminalLoginRecord): boolean {
  const isWaiting = ['pending', 'approved', 'denied'].includes(record.status)
  return isWaiting && record.boot_id === terminalLogins.bootId && Date.parse(record.expires_at) > Date.now()
}

function toTerminalLogin(record: TerminalLoginRecord): TerminalLogin {
  const { id, code, name, address, status, created_at, expires_at } = record
  return { id, code, name, address, status: status as TerminalLogin['status'], created_at, expires_at }
}

function unknownLogin(): Failure {
  return notFound('there is no such terminal login, or it has ended', 'ask again from the terminal')
}
