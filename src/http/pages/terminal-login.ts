// `/cli-login?id=…`: the administrator compares the code of a terminal with the one here, and approves it.
// No button has the focus, so a stray Enter does nothing. The name of the terminal is untrusted text.
import {
  ApproveTerminalLogin,
  type TerminalLogin,
  TerminalLoginParams,
} from '../../api/access/terminal-login.ts'
import { originOf, ownAddressOf } from '../pipeline/origin.ts'
import type { Page } from '../pipeline/route.ts'
import { validate } from '../pipeline/validation.ts'
import {
  approveTerminalLogin,
  denyTerminalLogin,
  getTerminalLogin,
  needsPassword,
} from '../routes/terminal-logins.ts'
import {
  alertOf,
  expiryChoice,
  type Field,
  type Form,
  type FormError,
  fieldsOf,
  moveToField,
  passwordField,
  roleChoice,
  toFormError,
  usernameOf,
} from './form.ts'
import { type Html, html } from './html.ts'
import { pageOf } from './layout.ts'
import type { SignedInCall } from './signed-in.ts'
import { relativeTime } from './text.ts'

type TerminalLoginCall = SignedInCall<Form>

export function showTerminalLogin(call: TerminalLoginCall): Page {
  if (!call.query.id) return nothingPage(call)
  try {
    return pageFor(call, getTerminalLogin(withParams(call)))
  } catch (error) {
    return closedPage(call, toFormError(error, call))
  }
}

/** The response shows the outcome, because the login may be gone at the next request. */
export async function submitTerminalLogin(call: SignedInCall<Form, Form>): Promise<Page> {
  if (!call.query.id) return nothingPage(call)
  try {
    return pageFor(call, await settle(call))
  } catch (error) {
    const formError = toFormError(error, call)
    if (formError.code === 'not_found') return closedPage(call, formError)
    return approvalPage(call, getTerminalLogin(withParams(call)), formError, call.body)
  }
}

async function settle(call: SignedInCall<Form, Form>): Promise<TerminalLogin> {
  const params = withParams(call)
  if (call.body.answer === 'deny') return denyTerminalLogin({ ...params, caller: call.caller })
  if (call.body.answer !== 'approve') return getTerminalLogin(params)
  const { role, expires_in_days: days, password } = call.body
  const approval = { role, expires_in_days: days ? Number(days) : null, password: password || null }
  const body = validate(ApproveTerminalLogin, approval)
  return approveTerminalLogin({ ...params, caller: call.caller, body })
}

function withParams({ context, query: { id = '' } }: TerminalLoginCall) {
  return { context, params: validate(TerminalLoginParams, { id }) }
}

function pageFor(call: TerminalLoginCall, login: TerminalLogin): Page {
  if (login.status === 'approved') return approvedPage(login)
  return login.status === 'denied' ? deniedPage(login) : approvalPage(call, login)
}

function approvalPage(
  call: TerminalLoginCall,
  login: TerminalLogin,
  formError: FormError | null = null,
  typed: Form = {},
): Page {
  const { code, address, created_at, expires_at } = login
  const expiry = relativeTime(expires_at)
  const isAtPassword = formError?.code === 'invalid_credentials' || formError?.code === 'password_required'
  const displayedError = formError && isAtPassword ? moveToField(formError, 'password') : formError
  const body = html`<h1>Connect a terminal?</h1>
<p class="lead">${nameOf(login)} asked ${relativeTime(created_at)}, from <strong>${address}</strong>,
to be connected to <strong>${originOf(call.context, call.request).host}</strong>.</p>
${alertOf(displayedError)}
<p class="code"><span class="quiet">Code</span> <strong>${code}</strong></p>
<p><strong>Approve only when the code here is the one in your terminal.</strong></p>
<form method="post">
${roleChoice(typed.role)}
${expiryChoice(typed.expires_in_days)}
${needsPassword(call.context, call.caller) ? passwordQuestion(call, displayedError) : null}
<div class="choice">
<button name="answer" value="approve">Approve</button>
<button name="answer" value="deny" class="second" formnovalidate>Deny</button>
</div>
</form>
<p class="quiet">The terminal gets an API token of this name. The request expires ${expiry}.</p>`
  return pageOf({ title: 'Connect a terminal?', body, formError, isSignedIn: true })
}

/** A browser that was signed in a while ago may be unattended. */
function passwordQuestion({ context }: TerminalLoginCall, formError: FormError | null): Html {
  const hint = 'Your password is required, because you signed in more than 10 minutes ago.'
  const field: Field = { ...passwordField, autocomplete: 'current-password', hint }
  const { email } = context.administrator.get()!
  return html`${usernameOf(email)}${fieldsOf([field], formError, false)}`
}

function approvedPage(login: TerminalLogin): Page {
  const body = html`<h1>Approved</h1>
<p class="lead">Go back to your terminal: ${nameOf(login)} is being connected.</p>
<p class="quiet">You can close this page. <a href="/account">Your account</a> can revoke the token.</p>`
  return pageOf({ title: 'Approved', body, isSignedIn: true })
}

function deniedPage(login: TerminalLogin): Page {
  const body = html`<h1>Denied</h1>
<p class="lead">${nameOf(login)} gets no token.</p>
<p class="quiet">You can close this page.</p>`
  return pageOf({ title: 'Denied', body, isSignedIn: true })
}

function nothingPage(call: TerminalLoginCall): Page {
  const body = html`<h1>No terminal to connect</h1>
<p class="lead">This command in a terminal prints the whole address of this page:</p>
${loginCommand(call)}`
  return pageOf({ title: 'No terminal to connect', body, isSignedIn: true })
}

function closedPage(call: TerminalLoginCall, formError: FormError): Page {
  const body = html`<h1>This request is over</h1>
<p class="lead">It was answered, it waited for more than ten minutes, or the server was restarted.</p>
<p>If your terminal says that it is connected, all is well. Otherwise run this in it again:</p>
${loginCommand(call)}`
  return pageOf({ title: 'This request is over', body, formError, isSignedIn: true })
}

function loginCommand({ context, request }: TerminalLoginCall): Html {
  return html`<p class="command"><code>berth login ${ownAddressOf(context, request)}</code></p>`
}

/** `bdi` isolates right-to-left characters in the name from the text around it. */
function nameOf({ name }: TerminalLogin): Html {
  return html`<strong><bdi>${name}</bdi></strong>`
}
