// `/cli-login?id=…`: a terminal asks to be connected, the administrator compares its code with the one here.
// Mind: nothing here is ready to be pressed by a stray Enter, and a name is anybody's text.

import { approveTerminalLogin, denyTerminalLogin, getTerminalLogin } from '../handlers/terminal-logins.ts'
import { originOf } from '../origin.ts'
import type { Page } from '../route.ts'
import { type TerminalLogin, TerminalLoginParams } from '../schemas/terminal-login.ts'
import { validate } from '../validation.ts'
import { type Html, html } from './html.ts'
import type { Form, TerminalLoginQuery } from './input.ts'
import { pageOf } from './layout.ts'
import { type Refusal, refusalOf } from './refusal.ts'
import type { SignedInCall } from './signed-in.ts'
import { timeOf } from './words.ts'

type Asking = SignedInCall<TerminalLoginQuery>

const answers = new Map([
  ['approve', approveTerminalLogin],
  ['deny', denyTerminalLogin],
])

export function showTerminalLogin(call: Asking): Page {
  try {
    return pageFor(call, getTerminalLogin(withParams(call)))
  } catch (error) {
    return overPage(refusalOf(error, call))
  }
}

/** Says at once what became of it: asked again, it may be over already. */
export async function answerTerminalLogin(call: SignedInCall<TerminalLoginQuery, Form>): Promise<Page> {
  const answer = answers.get(call.body.answer ?? '') ?? getTerminalLogin
  try {
    return pageFor(call, await answer(withParams(call)))
  } catch (error) {
    return overPage(refusalOf(error, call))
  }
}

function withParams({ context, query: { id = '' } }: Asking) {
  return { context, params: validate(TerminalLoginParams, { id }) as TerminalLoginParams }
}

function pageFor(call: Asking, login: TerminalLogin): Page {
  if (login.status === 'approved') return approvedPage(login)
  return login.status === 'denied' ? deniedPage(login) : questionPage(call, login)
}

function questionPage({ context, request }: Asking, login: TerminalLogin): Page {
  const { code, created_at, expires_at } = login
  const body = html`<h1>Connect a terminal?</h1>
<p class="lead">${nameOf(login)} asked ${timeOf(created_at)} to be connected
to <strong>${originOf(context, request).host}</strong>.</p>
<p class="code"><span class="quiet">Code</span> <strong>${code}</strong></p>
<p><strong>Approve only when the code here is the one in your terminal.</strong></p>
<form method="post" class="choice">
<button name="answer" value="approve">Approve</button>
<button name="answer" value="deny" class="second">Deny</button>
</form>
<p class="quiet">It gets an API token of this name, which can do everything but manage this account.
The request ends ${timeOf(expires_at)}.</p>`
  return pageOf({ title: 'Connect a terminal?', body })
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
