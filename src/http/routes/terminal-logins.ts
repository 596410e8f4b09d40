// Routes of terminal logins: a terminal creates a request, the administrator approves it, the terminal polls.

import {
  ApproveTerminalLogin,
  PolledTerminalLogin,
  PollTerminalLogin,
  StartedTerminalLogin,
  StartTerminalLogin,
  TerminalLogin,
  TerminalLoginParams,
} from '../../api/access/terminal-login.ts'
import * as logins from '../handlers/access/terminal-logins.ts'
import { get, post, tagged } from '../pipeline/route.ts'
import { accountBodyLimitBytes } from '../pipeline/validation.ts'

export const terminalLoginRoutes = tagged('Terminal login', [
  post('/auth/cli', {
    credential: 'public',
    // A terminal sends no Origin; another site's page must not use up its turns.
    checksOrigin: true,
    acceptsIdempotencyKey: false,
    summary: 'Requests a token, which the administrator approves at /cli-login?id=… within ten minutes',
    body: StartTerminalLogin,
    bodyLimitBytes: accountBodyLimitBytes,
    response: StartedTerminalLogin,
    status: 201,
    problems: ['conflict', 'invalid_start_code', 'too_many_attempts'],
    handler: logins.startTerminalLogin,
  }),
  get('/auth/cli/{id}', {
    credential: 'session',
    summary: 'Returns a terminal login, with the code that the terminal shows',
    params: TerminalLoginParams,
    response: TerminalLogin,
    handler: logins.getTerminalLogin,
  }),
  post('/auth/cli/{id}/approve', {
    credential: 'session',
    acceptsIdempotencyKey: false,
    summary: 'Approves a terminal login, if the code is the one that the terminal shows',
    params: TerminalLoginParams,
    body: ApproveTerminalLogin,
    bodyLimitBytes: accountBodyLimitBytes,
    response: TerminalLogin,
    problems: ['invalid_credentials', 'password_required', 'too_many_attempts'],
    handler: logins.approveTerminalLogin,
  }),
  post('/auth/cli/{id}/deny', {
    bodyLimitBytes: accountBodyLimitBytes,
    credential: 'session',
    acceptsIdempotencyKey: false,
    summary: 'Denies a terminal login',
    params: TerminalLoginParams,
    response: TerminalLogin,
    handler: logins.denyTerminalLogin,
  }),
  post('/auth/cli/{id}/token', {
    credential: 'public',
    acceptsIdempotencyKey: false,
    summary: 'Returns the outcome; the token comes once, with `approved`, and ends the request',
    params: TerminalLoginParams,
    body: PollTerminalLogin,
    bodyLimitBytes: accountBodyLimitBytes,
    response: PolledTerminalLogin,
    problems: ['invalid_secret', 'slow_down'],
    handler: logins.pollTerminalLogin,
  }),
])
