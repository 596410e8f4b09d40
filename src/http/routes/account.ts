// Setup, sign-in, sign-out and the account.
import type { SignedIn } from '../../account/administrator.ts'
import { AuthStatus, ChangePassword, Login, NewAccount, Setup } from '../../api/access/account.ts'
import { callerOf } from '../pipeline/auth.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { clearedCookie, deviceCookie, sessionSecretsOf } from '../pipeline/cookies.ts'
import { originOf } from '../pipeline/origin.ts'
import { type Call, get, post, tagged, WithHeaders } from '../pipeline/route.ts'
import { validate } from '../pipeline/validation.ts'
import { cookiesFor, signIn } from '../rules/sign-in.ts'
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
  for (const secret of sessionSecretsOf(call.request, origin)) {
    const session = sessions.bySecret(secret)
    if (session) await sessions.remove(session.id)
  }
  call.streams.check()
  return new WithHeaders(undefined, [clearedCookie(origin)])
}

export async function changePassword(
  call: Pick<Call<unknown, unknown, ChangePassword>, 'body' | 'caller' | 'context' | 'request' | 'streams'>,
): Promise<WithHeaders<undefined>> {
  const { current_password: current, new_password: next, revoke_tokens: revokeTokens = false } = call.body
  const change = { current, next, revokeTokens }
  const device = await call.context.administrator.changePassword(call.caller!.id, change)
  call.streams.check()
  return new WithHeaders(undefined, [deviceCookie(originOf(call.context, call.request), device)])
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
