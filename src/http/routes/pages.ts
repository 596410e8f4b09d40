// Routes of the plain pages: setup, sign-in, account, terminal login, git connections. Each is a public
// route and checks the session itself, so that visitors without a session are redirected to sign in.
import type { z } from 'zod'
import { changeAccount, showAccount } from '../pages/account.ts'
import {
  gitCallbackPath,
  showGitCallback,
  showGitStart,
  submitGitCallback,
  submitGitStart,
} from '../pages/git-connection.ts'
import { Form, LoginQuery, ManualParams, SetupQuery, TerminalLoginQuery } from '../pages/input.ts'
import { accountPath, gitStartPath, manualPath, redirect } from '../pages/layout.ts'
import { showLogin, submitLogin } from '../pages/login.ts'
import { showContents, showManual } from '../pages/manual.ts'
import { markSvg } from '../pages/mark.ts'
import { script } from '../pages/script.ts'
import { showSetup, submitSetup } from '../pages/setup.ts'
import { forSession } from '../pages/signed-in.ts'
import { style } from '../pages/style.ts'
import { showTerminalLogin, submitTerminalLogin } from '../pages/terminal-login.ts'
import { Raw, route, tagged } from '../pipeline/route.ts'

const shared = { credential: 'public', isPage: true } as const
/** A form may only come from a page of this server. */
const forms = {
  checksOrigin: true,
  acceptsIdempotencyKey: false,
  body: Form,
  bodyLimitBytes: 16 * 1024,
} as const

type Options<Params extends z.ZodType, Query extends z.ZodType> = Pick<
  Parameters<typeof route<Params, Query, typeof Form, z.ZodType>>[0],
  'summary' | 'params' | 'query' | 'handler'
>

function shows<Params extends z.ZodType, Query extends z.ZodType>(
  path: string,
  options: Options<Params, Query>,
) {
  return route({ ...shared, method: 'GET', path, ...options })
}

function takes<Params extends z.ZodType, Query extends z.ZodType>(
  path: string,
  options: Options<Params, Query>,
) {
  return route({ ...shared, ...forms, method: 'POST', path, ...options })
}

const asset = (type: string, body: string) => () => new Raw(200, type, body)

export const pageRoutes = tagged('Pages', [
  shows('/', { summary: 'Redirects to the account page', handler: () => redirect(accountPath) }),
  shows('/setup', { summary: 'The setup page of a new server', query: SetupQuery, handler: showSetup }),
  takes('/setup', { summary: 'Creates the account and signs in', query: SetupQuery, handler: submitSetup }),
  shows('/login', { summary: 'The sign-in page', query: LoginQuery, handler: showLogin }),
  takes('/login', { summary: 'Signs in, and redirects to `next`', query: LoginQuery, handler: submitLogin }),
  shows('/cli-login', {
    summary: 'The approval page of a terminal login, with the code to compare',
    query: TerminalLoginQuery,
    handler: forSession(showTerminalLogin),
  }),
  takes('/cli-login', {
    summary: 'Approves or denies a terminal login',
    query: TerminalLoginQuery,
    handler: forSession(submitTerminalLogin),
  }),
  shows(accountPath, {
    summary: 'The account, its sessions and its tokens',
    handler: forSession(showAccount),
  }),
  takes(accountPath, {
    summary: 'Changes the account, a session or a token',
    handler: forSession(changeAccount),
  }),
  shows(gitStartPath, {
    summary: 'The page that connects a git account',
    query: Form,
    handler: forSession(showGitStart),
  }),
  takes(gitStartPath, {
    summary: 'Starts the authorization of a git account',
    query: Form,
    handler: forSession(submitGitStart),
  }),
  shows(gitCallbackPath, {
    summary: 'The page to which a git provider sends the browser back',
    query: Form,
    handler: forSession(showGitCallback),
  }),
  takes(gitCallbackPath, {
    summary: 'Continues the authorization of a git account',
    query: Form,
    handler: forSession(submitGitCallback),
  }),
  shows(manualPath, { summary: 'The contents page of the manual', handler: showContents }),
  shows(`${manualPath}/{page}`, {
    summary: 'A page of the manual',
    params: ManualParams,
    handler: showManual,
  }),
  shows('/berth.css', {
    summary: 'The style sheet of the pages',
    handler: asset('text/css; charset=utf-8', style),
  }),
  shows('/berth.js', {
    summary: 'The script of the pages',
    handler: asset('text/javascript; charset=utf-8', script),
  }),
  shows('/berth.svg', { summary: 'The icon of the pages', handler: asset('image/svg+xml', markSvg) }),
])
