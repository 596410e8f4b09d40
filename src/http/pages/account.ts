// `/account`: the signed-in user, sessions and tokens. Each form has a hidden field `act`. A new token is
// shown once, in the response to its form.

import { ChangePassword } from '../../api/access/account.ts'
import { SessionParams } from '../../api/access/session.ts'
import { CreateToken, TokenParams } from '../../api/access/token.ts'
import { invalidRequest } from '../../errors.ts'
import { ownAddressOf } from '../pipeline/origin.ts'
import { Page } from '../pipeline/route.ts'
import { validate } from '../pipeline/validation.ts'
import * as account from '../routes/account.ts'
import * as sessions from '../routes/sessions.ts'
import * as tokens from '../routes/tokens.ts'
import { accountPage, type FormOutcome } from './account-page.ts'
import { moveToField, toFormError } from './form-error.ts'
import type { Form } from './input.ts'
import { accountPath, redirect } from './layout.ts'
import type { SignedInCall } from './signed-in.ts'

type FormCall = SignedInCall<unknown, Form>
type Act = (call: FormCall) => Promise<Page>

export function showAccount(call: SignedInCall): Page {
  return pageFor(call, {})
}

export async function changeAccount(call: FormCall): Promise<Page> {
  const act = acts.get(call.body.act ?? '')
  if (!act) throw invalidRequest('the form does not say what to do')
  try {
    return await act(call)
  } catch (error) {
    const formError = toFormError(error, call)
    const isAtPassword = formError.code === 'invalid_credentials'
    return pageFor(call, {
      formError: isAtPassword ? moveToField(formError, 'current_password') : formError,
      typed: call.body,
    })
  }
}

const acts = new Map<string, Act>([
  ['sign-out', signOut],
  ['end-session', endSession],
  ['end-other-sessions', endOtherSessions],
  ['create-token', createToken],
  ['revoke-token', revokeToken],
  ['change-password', changePassword],
])

async function signOut(call: FormCall): Promise<Page> {
  const { headers } = await account.logout(call)
  return redirect('/login', headers)
}

async function endSession(call: FormCall): Promise<Page> {
  const { id } = call.body
  const params = validate(SessionParams, { id })
  const { headers } = await sessions.deleteSession({ ...call, params })
  return redirect(accountPath, headers)
}

async function endOtherSessions(call: FormCall): Promise<Page> {
  await sessions.deleteOtherSessions(call)
  return redirect(accountPath)
}

async function createToken(call: FormCall): Promise<Page> {
  const { name, role, services, expires_in_days: days } = call.body
  const names = services?.split(/[\s,]+/).filter((one) => one !== '') ?? []
  const limits = { services: names.length > 0 ? names : null, expires_in_days: days ? Number(days) : null }
  const grant = { name, role, ...limits }
  const body = validate(CreateToken, grant)
  return pageFor(call, { created: await tokens.createToken({ ...call, body }) })
}

async function revokeToken(call: FormCall): Promise<Page> {
  const { id } = call.body
  const params = validate(TokenParams, { id })
  await tokens.deleteToken({ ...call, params })
  return redirect(accountPath)
}

async function changePassword(call: FormCall): Promise<Page> {
  const { current_password, new_password } = call.body
  const revoke_tokens = call.body.revoke_tokens === 'true'
  const change = { current_password, new_password, revoke_tokens }
  const body = validate(ChangePassword, change)
  const { headers } = await account.changePassword({ ...call, body })
  const revoked = revoke_tokens ? ' All API tokens are revoked.' : ''
  const done = `The password is changed, and every other session has ended.${revoked}`
  const page = pageFor(call, { done })
  return new Page(page.status, page.html, [...page.headers, ...headers])
}

function pageFor(call: SignedInCall, outcome: FormOutcome): Page {
  const { context, request } = call
  const details = {
    email: context.administrator.get()!.email,
    sessions: sessions.listSessions(call),
    tokens: tokens.listTokens(call),
    loginCommand: `berth login ${ownAddressOf(context, request)}`,
    startCode: context.terminalLogins.startCode.current(),
  }
  return accountPage(details, outcome)
}
