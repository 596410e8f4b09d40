// Routes of the plain pages. Each is public and checks the session itself, to redirect visitors to sign in.
import { z } from 'zod'
import { changeAccount, showAccount } from '../pages/account.ts'
import { markSvg, style } from '../pages/assets.ts'
import { AssetParams, sendAsset, showDashboard, showStart } from '../pages/dashboard.ts'
import { Form } from '../pages/form.ts'
import {
  gitCallbackPath,
  showGitCallback,
  showGitStart,
  submitGitCallback,
  submitGitStart,
} from '../pages/git-connection.ts'
import { accountPath, gitStartPath, manualPath } from '../pages/layout.ts'
import { ManualParams, showContents, showManual } from '../pages/manual.ts'
import { showLogin, showSetup, submitLogin, submitSetup } from '../pages/sign-in.ts'
import { forSession } from '../pages/signed-in.ts'
import { showTerminalLogin, submitTerminalLogin } from '../pages/terminal-login.ts'
import { Raw, route, tagged } from '../pipeline/route.ts'

/** Pages are not in the OpenAPI document. A query may have other parameters than those of the page. */
const shared = { credential: 'public', isPage: true, query: Form, summary: 'A page' } as const
/** A form may only come from a page of this server. */
const forms = {
  checksOrigin: true,
  acceptsIdempotencyKey: false,
  body: Form,
} as const

type Handler<Params extends z.ZodType> = Parameters<
  typeof route<Params, typeof Form, typeof Form, z.ZodType>
>[0]['handler']

function shows<Params extends z.ZodType>(path: string, handler: Handler<Params>, params?: Params) {
  return route({ ...shared, method: 'GET', path, handler, ...(params && { params }) })
}

/** Without a session, only a sign-in changes something. */
function takes(path: string, handler: Handler<z.ZodUnknown>, signsIn = false) {
  const more = signsIn ? { auditsVisitor: () => true } : {}
  return route({ ...shared, ...forms, method: 'POST', path, handler, ...more })
}

const asset = (type: string, body: string) => () => new Raw(200, type, body)

/** Each with up to so many further segments. The dashboard finds out by itself what to show. */
const dashboardRoots = {
  services: 3,
  charts: 2,
  datastores: 2,
  alerts: 0,
  activity: 0,
  sources: 0,
  server: 1,
}
const dashboardPaths = Object.entries(dashboardRoots).flatMap(([root, depth]) => [
  `/${root}`,
  ...['/{a}', '/{a}/{b}', '/{a}/{b}/{c}'].slice(0, depth).map((rest) => `/${root}${rest}`),
])

export const pageRoutes = tagged('Pages', [
  shows('/', showStart),
  ...dashboardPaths.map((path) => shows(path, forSession(showDashboard), z.object({}).loose())),
  shows('/assets/{file}', sendAsset, AssetParams),
  shows('/setup', showSetup),
  takes('/setup', submitSetup, true),
  shows('/login', showLogin),
  takes('/login', submitLogin, true),
  shows('/cli-login', forSession(showTerminalLogin)),
  takes('/cli-login', forSession(submitTerminalLogin)),
  shows(accountPath, forSession(showAccount)),
  takes(accountPath, forSession(changeAccount)),
  shows(gitStartPath, forSession(showGitStart)),
  takes(gitStartPath, forSession(submitGitStart)),
  shows(gitCallbackPath, forSession(showGitCallback)),
  takes(gitCallbackPath, forSession(submitGitCallback)),
  shows(manualPath, showContents),
  shows(`${manualPath}/{page}`, showManual, ManualParams),
  shows('/berth.css', asset('text/css; charset=utf-8', style)),
  shows('/berth.svg', asset('image/svg+xml', markSvg)),
])
