// `/cli-login?id=…`: the administrator compares the code of a terminal with the one here, and approves it. No
// button has the focus, so a stray Enter does nothing. The name of the terminal is untrusted text.

import {
  ApproveTerminalLogin,
  type TerminalLogin,
  TerminalLoginParams,
} from '../../api/access/terminal-login.ts'
import {
  approveTerminalLogin,
  denyTerminalLogin,
  getTerminalLogin,
  needsPassword,
} from '../handlers/access/terminal-logins.ts'
import { originOf } from '../pipeline/origin.ts'
import type { Page } from '../pipeline/route.ts'
import { validate } from '../pipeline/validation.ts'
import { endChoice, roleChoice } from './choices.ts'
import { type Field, fieldsOf, passwordField, usernameOf } from './fields.ts'
import { type Html, html } from './html.ts'
import type { Form, TerminalLoginQuery } from './input.ts'
import { pageOf } from './layout.ts'
import { alertOf, atField, type Refusal, refusalOf } from './refusal.ts'
import type { SignedInCall } from './signed-in.ts'
import { timeOf } from './words.ts'

type Asking = SignedInCall<TerminalLoginQuery>

export function showTerminalLogin(call: Asking): Page {
  try {
    return pageFor(call, getTerminalLogin(withParams(call)))
  } catch (error) {
    return overPage(refusalOf(error, call))
  }
}

/** The response shows the outcome: a later request may find that the login is over. */
export async function answerTerminalLogin(call: SignedInCall<TerminalLoginQuery, Form>): Promise<Page> {
  try {
    return pageFor(call, await answer(call))
  } catch (error) {
    const refusal = refusalOf(error, call)
    if (refusal.code === 'not_found') return overPage(refusal)
    return questionPage(call, getTerminalLogin(withParams(call)), refusal, call.body)
  }
}

async function answer(call: SignedInCall<TerminalLoginQuery, Form>): Promise<TerminalLogin> {
  const asked = withParams(call)
  if (call.body.answer === 'deny') return denyTerminalLogin({ ...asked, caller: call.caller })
  if (call.body.answer !== 'approve') return getTerminalLogin(asked)
  const { role, expires_in_days: days, password } = call.body
  const given = { role, expires_in_days: days ? Number(days) : null, password: password || null }
  const body = validate(ApproveTerminalLogin, given) as ApproveTerminalLogin
  return approveTerminalLogin({ ...asked, caller: call.caller, body })
}

function withParams({ context, query: { id = '' } }: Asking) {
  return { context, params: validate(TerminalLoginParams, { id }) as TerminalLoginParams }
}

function pageFor(call: Asking, login: TerminalLogin): Page {
  if (login.status === 'approved') return approvedPage(login)
  return login.status === 'denied' ? deniedPage(login) : questionPage(call, login)
}

function questionPage(
  call: Asking,
  login: TerminalLogin,
  refusal: Refusal | null = null,
  typed: Form = {},
): Page {
  const { code, address, created_at, expires_at } = login
  const isAtPassword = refusal?.code === 'invalid_credentials' || refusal?.code === 'password_required'
  const shown = refusal && isAtPassword ? atField(refusal, 'password') : refusal
  const body = html`<h1>Connect a terminal?</h1>
<p class="lead">${nameOf(login)} asked ${timeOf(created_at)}, from <strong>${address}</strong>,
to be connected to <strong>${originOf(call.context, call.request).host}</strong>.</p>
${alertOf(shown)}
<p class="code"><span class="quiet">Code</span> <strong>${code}</strong></p>
<p><strong>Approve only when the code here is the one in your terminal.</strong></p>
<form method="post">
${roleChoice(typed.role)}
${endChoice(typed.expires_in_days)}
${needsPassword(call.context, call.caller) ? passwordQuestion(call, shown) : null}
<div class="choice">
<button name="answer" value="approve">Approve</button>
<button name="answer" value="deny" class="second" formnovalidate>Deny</button>
</div>
</form>
<p class="quiet">The terminal gets an API token of this name. The request ends ${timeOf(expires_at)}.</p>`
  return pageOf({ title: 'Connect a terminal?', body, refusal })
}

/** A browser that was signed in a while ago may be unattended. */
function passwordQuestion({ context }: Asking, refusal: Refusal | null): Html {
  const hint = 'Approving needs it, because you signed in more than 10 minutes ago.'
  const field: Field = { ...passwordField, autocomplete: 'current-password', hint }
  const { email } = context.administrator.get()!
  return html`${usernameOf(email)}${fieldsOf([field], refusal, false)}`
}

function approvedPage(login: TerminalLogin): Page {
  const body = html`<h1>Approved</h1>
<p class="lead">Go back to your terminal: ${nameOf(login)} is being connected.</p>
<p class="quiet">You can close this page. <a href="/account">Your account</a> can revoke the token.</p>`
  return pageOf({ title: 'Approved', body })
}

function deniedPage(login: TerminalLogin): Page {
  const body = html`<h1>Denied</h1>
<p class="lead">${nameOf(login)} gets no token.</p>
<p class="quiet">You can close this page.</p>`
  return pageOf({ title: 'Denied', body })
}

function overPage(refusal: Refusal): Page {
  const body = html`<h1>This request is over</h1>
<p class="lead">It was answered, it waited for more than ten minutes, or the server was restarted.</p>
<p>If your terminal says that it is connected, all is well. Otherwise run this in it again:</p>
<p class="command"><code>berth login</code></p>`
  return pageOf({ title: 'This request is over', body, refusal })
}

/** Set apart, so that no letters in it turn those around it. */
function nameOf({ name }: TerminalLogin): Html {
  return html`<strong><bdi>${name}</bdi></strong>`
}
