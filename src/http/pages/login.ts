// `/login`: signs a browser in, and redirects to the requested page.

import { Login } from '../../api/access/account.ts'
import { sessionOf } from '../pipeline/auth.ts'
import { originOf } from '../pipeline/origin.ts'
import type { Call, Page } from '../pipeline/route.ts'
import { validate } from '../pipeline/validation.ts'
import { cookiesFor, signIn } from '../rules/sign-in.ts'
import { emailField, fieldsOf, passwordField } from './fields.ts'
import { alertOf, type FormError, toFormError } from './form-error.ts'
import { html } from './html.ts'
import type { Form, LoginQuery } from './input.ts'
import { ownPath, pageOf, redirect, withNext } from './layout.ts'

type LoginCall = Call<unknown, LoginQuery>

export function showLogin(call: LoginCall): Page {
  if (!call.context.administrator.get()) return noAccount(call.query, null)
  return sessionOf(call.context, call.request)
    ? redirect(ownPath(call.query.next))
    : loginPage(call, {}, null)
}

export async function submitLogin(call: Call<unknown, LoginQuery, Form>): Promise<Page> {
  const { context, query, body } = call
  const { email, password } = body
  try {
    const login = validate(Login, { email, password })
    return redirect(ownPath(query.next), cookiesFor(call, await signIn(call, login)))
  } catch (error) {
    const formError = toFormError(error, call)
    if (!context.administrator.get()) return noAccount(query, formError)
    return loginPage(call, body, formError)
  }
}

function loginPage({ context, request }: LoginCall, typed: Form, formError: FormError | null): Page {
  const fields = [
    { ...emailField, value: typed.email },
    { ...passwordField, autocomplete: 'current-password' },
  ]
  const body = html`<h1>Sign in</h1>
<p class="lead">to <strong>${originOf(context, request).host}</strong></p>
${alertOf(formError)}
<form method="post">
${fieldsOf(fields, formError, true)}
<button>Sign in</button>
</form>
<p class="quiet">Forgotten? On the server, <code>berthd reset-password</code> sets another password.</p>`
  return pageOf({ title: 'Sign in', body, formError })
}

function noAccount({ next }: LoginQuery, formError: FormError | null): Page {
  const body = html`<h1>No account yet</h1>
<p class="lead">When this server started, it printed a link to create the account. Open that link.</p>
<p>The link’s code is in the server’s data directory too, in the file <code>setup_code</code>.</p>
<p><a class="button" href="${withNext('/setup', ownPath(next))}">I have the code</a></p>`
  return pageOf({ title: 'No account yet', body, formError })
}
