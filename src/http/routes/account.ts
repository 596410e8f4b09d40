// Routes of the account, its sessions and its tokens. Their responses are never stored for an
// `Idempotency-Key`, because they contain credentials.
import { z } from 'zod'
import { AuthStatus, ChangePassword, Login, Setup } from '../../api/access/account.ts'
import { Session, SessionParams } from '../../api/access/session.ts'
import { CreatedToken, CreateToken, Token, TokenParams } from '../../api/access/token.ts'
import * as account from '../handlers/access/account.ts'
import * as sessions from '../handlers/access/sessions.ts'
import * as tokens from '../handlers/access/tokens.ts'
import { del, get, post, tagged } from '../pipeline/route.ts'
import { accountBodyLimitBytes } from '../pipeline/validation.ts'

export const accountRoutes = tagged('Account', [
  get('/auth/status', {
    credential: 'public',
    summary: 'Shows how this request is authenticated, and whether the server has its account',
    response: AuthStatus,
    handler: account.authStatus,
  }),
  post('/auth/setup', {
    credential: 'public',
    checksOrigin: true,
    acceptsIdempotencyKey: false,
    summary: 'Creates the account of a new server, and signs the browser in',
    body: Setup,
    bodyLimitBytes: accountBodyLimitBytes,
    response: AuthStatus,
    status: 201,
    problems: ['already_set_up', 'invalid_setup_code'],
    setsCookie: true,
    handler: account.setUp,
  }),
  post('/auth/login', {
    credential: 'public',
    checksOrigin: true,
    acceptsIdempotencyKey: false,
    summary: 'Signs the browser in; limited to 10 failed attempts in 5 minutes',
    body: Login,
    bodyLimitBytes: accountBodyLimitBytes,
    response: AuthStatus,
    problems: ['conflict', 'invalid_credentials', 'too_many_attempts'],
    setsCookie: true,
    handler: account.login,
  }),
  post('/auth/logout', {
    bodyLimitBytes: accountBodyLimitBytes,
    credential: 'public',
    checksOrigin: true,
    acceptsIdempotencyKey: false,
    summary: 'Ends the session of the cookie; also succeeds without a session',
    setsCookie: true,
    handler: account.logout,
  }),
  post('/auth/password', {
    credential: 'session',
    acceptsIdempotencyKey: false,
    summary: 'Changes the password, ends all other sessions, and on request revokes all tokens',
    body: ChangePassword,
    bodyLimitBytes: accountBodyLimitBytes,
    problems: ['invalid_credentials', 'too_many_attempts'],
    setsCookie: true,
    handler: account.changePassword,
  }),
  get('/auth/sessions', {
    credential: 'session',
    summary: 'Lists the sessions, last used first',
    response: z.array(Session),
    handler: sessions.listSessions,
  }),
  del('/auth/sessions', {
    credential: 'session',
    summary: 'Ends all sessions except the one of this request',
    handler: sessions.deleteOtherSessions,
  }),
  del('/auth/sessions/{id}', {
    credential: 'session',
    summary: 'Ends a session, including the one of this request',
    params: SessionParams,
    setsCookie: true,
    handler: sessions.deleteSession,
  }),
  get('/auth/tokens', {
    credential: 'session',
    summary: 'Lists the API tokens, newest first, without the server token',
    response: z.array(Token),
    handler: tokens.listTokens,
  }),
  post('/auth/tokens', {
    credential: 'session',
    acceptsIdempotencyKey: false,
    summary: 'Creates an API token; the token itself is returned only here',
    body: CreateToken,
    bodyLimitBytes: accountBodyLimitBytes,
    response: CreatedToken,
    status: 201,
    handler: tokens.createToken,
  }),
  del('/auth/tokens/{id}', {
    credential: 'session',
    summary: 'Revokes an API token, effective immediately',
    params: TokenParams,
    handler: tokens.deleteToken,
  }),
])
