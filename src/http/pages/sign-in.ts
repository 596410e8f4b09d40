// `/login` signs a browser in. `/setup` creates the account of a new server, with the code that it printed.
import { Login, Setup } from '../../api/access/account.ts'
import { sessionOf } from '../pipeline/auth.ts'
import { originOf } from '../pipeline/origin.ts'
import { type Call, Page } from '../pipeline/route.ts'
import { validate } from '../pipeline/validation.ts'
import { cookiesFor, signIn, signUp } from '../routes/account.ts'
import type { HeaderList } from '../server/messages.ts'
import {
  alertOf,
  emailField,
  type Field,
  type Form,
  type FormError,
  fieldsOf,
  moveToField,
  newPasswordField,
  passwordField,
  toFormError,
} from './form.ts'
import { html } from './html.ts'
import { ownPath, pageOf, redirect, withNext } from './layout.ts'

type LoginCall = Call<unknown, Form>

export function showLogin(call: LoginCall): Page {
  if (!call.context.administrator.get()) return noAccount(call.query, null)
  return sessionOf(call.context, call.request)
    ? redirect(ownPath(call.query.next))
    : loginPage(call, {}, null)
}

export async function submitLogin(call: Call<unknown, Form, Form>): Promise<Page> {
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

function noAccount({ next }: Form, formError: FormError | null): Page {
  const body = html`<h1>No account yet</h1>
<p class="lead">When this server started, it printed a link to create the account. Open that link.</p>
<p>The link’s code is in the server’s data directory too, in the file <code>setup_code</code>.</p>
<p><a class="button" href="${withNext('/setup', ownPath(next))}">I have the code</a></p>`
  return pageOf({ title: 'No account yet', body, formError })
}

export function showSetup(call: Call<unknown, Form>): Page {
  const { context, query, request } = call
  if (sessionOf(context, request)) return redirect(ownPath(query.next))
  if (context.administrator.get()) return alreadySetUp(query, null)
  try {
    if (query.code) context.administrator.assertSetupCode(query.code)
    return setupPage(query, {}, null)
  } catch (error) {
    return setupPage(query, {}, moveToField(toFormError(error, call), 'code'))
  }
}

export async function submitSetup(call: Call<unknown, Form, Form>): Promise<Page> {
  const { query, body } = call
  const { code, email, password } = body
  try {
    const signedUp = await signUp(call, validate(Setup, { code, email, password }))
    const cookies = cookiesFor(call, signedUp)
    const key = await call.context.firstRecoveryKey()
    return key === null ? redirect(ownPath(query.next), cookies) : recoveryKeyPage(query, key, cookies)
  } catch (error) {
    const formError = toFormError(error, call)
    if (formError.code === 'already_set_up') return alreadySetUp(query, formError)
    return setupPage(
      query,
      body,
      formError.code === 'invalid_setup_code' ? moveToField(formError, 'code') : formError,
    )
  }
}

/** The only time that the key is shown: the server stores its public half. */
function recoveryKeyPage({ next }: Form, key: string, cookies: HeaderList): Page {
  const body = html`<h1>Your recovery key</h1>
<p class="lead">Backups of this server are encrypted, and only this key opens them.</p>
<p class="command"><code>${key}</code></p>
<p>Store it where you find it without this server: in a password manager, or on paper. It is not shown
again, and this server does not keep it. Without it no backup can be restored.
<code>berthd backup-key</code> makes another one for later backups.</p>
<p><a class="button" href="${ownPath(next)}">I have stored it</a></p>`
  const page = pageOf({ title: 'Recovery key', body })
  return new Page(page.status, page.html, [...page.headers, ...cookies])
}

function setupPage(query: Form, typed: Form, formError: FormError | null): Page {
  const fields: Field[] = [
    { ...codeField, value: typed.code ?? query.code },
    { ...emailField, value: typed.email },
    { ...newPasswordField, name: 'password', label: 'Password' },
  ]
  const body = html`<h1>Welcome to Berth</h1>
<p class="lead">This server has no account yet. Create the one that administers it.</p>
${alertOf(formError)}
<form method="post">
${fieldsOf(fields, formError, true)}
<button>Create the account</button>
</form>`
  return pageOf({ title: 'Set up', body, formError })
}

const codeField: Field = {
  name: 'code',
  label: 'Setup code',
  autocomplete: 'off',
  hint: 'It is in the link that the server printed, and in its data directory, in the file setup_code.',
}

function alreadySetUp({ next }: Form, formError: FormError | null): Page {
  const body = html`<h1>This server is set up</h1>
<p class="lead">It already has an account: sign in instead.</p>
<p><a class="button" href="${withNext('/login', ownPath(next))}">Sign in</a></p>`
  return pageOf({ title: 'Set up', body, formError })
}
