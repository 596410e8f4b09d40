// Routes of the plain pages: setup, sign-in, account, terminal login, git connections. Each is a public
// route and checks the session itself, so that visitors without a session are redirected to sign in.
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

const page = { credential: 'public', isPage: true } as const
const pageRoute = { ...page, method: 'GET' } as const
/** The headers of a browser request that comes from a page of this server. */
const sent = {
  ...page,
  method: 'POST',
  checksOrigin: true,
  acceptsIdempotencyKey: false,
  body: Form,
  bodyLimitBytes: 16 * 1024,
} as const

export const pageRoutes = tagged('Pages', [
  route({
    ...pageRoute,
    path: '/',
    summary: 'Redirects to the account page',
    handler: () => redirect(accountPath),
  }),
  route({
    ...pageRoute,
    path: '/setup',
    summary: 'The setup page of a new server',
    query: SetupQuery,
    handler: showSetup,
  }),
  route({
    ...sent,
    path: '/setup',
    summary: 'Creates the account and signs in',
    query: SetupQuery,
    handler: submitSetup,
  }),
  route({
    ...pageRoute,
    path: '/login',
    summary: 'The sign-in page',
    query: LoginQuery,
    handler: showLogin,
  }),
  route({
    ...sent,
    path: '/login',
    summary: 'Signs in, and redirects to `next`',
    query: LoginQuery,
    handler: submitLogin,
  }),
  route({
    ...pageRoute,
    path: '/cli-login',
    summary: 'The approval page of a terminal login, with the code to compare',
    query: TerminalLoginQuery,
    handler: forSession(showTerminalLogin),
  }),
  route({
    ...sent,
    path: '/cli-login',
    summary: 'Approves or denies a terminal login',
    query: TerminalLoginQuery,
    handler: forSession(submitTerminalLogin),
  }),
  route({
    ...pageRoute,
    path: accountPath,
    summary: 'The account, its sessions and its tokens',
    handler: forSession(showAccount),
  }),
  route({
    ...sent,
    path: accountPath,
    summary: 'Changes the account, a session or a token',
    handler: forSession(changeAccount),
  }),
  route({
    ...pageRoute,
    path: gitStartPath,
    summary: 'The page that connects a git account',
    query: Form,
    handler: forSession(showGitStart),
  }),
  route({
    ...sent,
    path: gitStartPath,
    summary: 'Starts the authorization of a git account',
    query: Form,
    handler: forSession(submitGitStart),
  }),
  route({
    ...pageRoute,
    path: gitCallbackPath,
    summary: 'The page to which a git provider sends the browser back',
    query: Form,
    handler: forSession(showGitCallback),
  }),
  route({
    ...sent,
    path: gitCallbackPath,
    summary: 'Continues the authorization of a git account',
    query: Form,
    handler: forSession(submitGitCallback),
  }),
  route({
    ...pageRoute,
    path: manualPath,
    summary: 'The contents page of the manual',
    handler: showContents,
  }),
  route({
    ...pageRoute,
    path: `${manualPath}/{page}`,
    summary: 'A page of the manual',
    params: ManualParams,
    handler: showManual,
  }),
  route({
    ...pageRoute,
    path: '/berth.css',
    summary: 'The style sheet of the pages',
    handler: () => new Raw(200, 'text/css; charset=utf-8', style),
  }),
  route({
    ...pageRoute,
    path: '/berth.js',
    summary: 'The script of the pages',
    handler: () => new Raw(200, 'text/javascript; charset=utf-8', script),
  }),
  route({
    ...pageRoute,
    path: '/berth.svg',
    summary: 'The icon of the pages',
    handler: () => new Raw(200, 'image/svg+xml', markSvg),
  }),
])
