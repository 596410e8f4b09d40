// `/setup`: creates the account of a new server, with the code that the server printed.

import { Setup } from '../../api/access/account.ts'
import { sessionOf } from '../pipeline/auth.ts'
import type { Call, Page } from '../pipeline/route.ts'
import { validate } from '../pipeline/validation.ts'
import { signUp } from '../routes/account.ts'
import { cookiesFor } from '../rules/sign-in.ts'
import { emailField, type Field, fieldsOf, newPasswordField } from './fields.ts'
import { alertOf, type FormError, moveToField, toFormError } from './form-error.ts'
import { html } from './html.ts'
import type { Form, SetupQuery } from './input.ts'
import { ownPath, pageOf, redirect, withNext } from './layout.ts'

export function showSetup(call: Call<unknown, SetupQuery>): Page {
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

export async function submitSetup(call: Call<unknown, SetupQuery, Form>): Promise<Page> {
  const { query, body } = call
  const { code, email, password } = body
  try {
    const signedUp = await signUp(call, validate(Setup, { code, email, password }))
    return redirect(ownPath(query.next), cookiesFor(call, signedUp))
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

/** The code of the link is not shown, unless it is wrong. */
function setupPage(query: SetupQuery, typed: Form, formError: FormError | null): Page {
  const code = typed.code ?? query.code
  const isCodeShown = !query.code || formError?.fields.has('code')
  const fields: Field[] = [
    { ...emailField, value: typed.email },
    { ...newPasswordField, name: 'password', label: 'Password' },
  ]
  const all = isCodeShown ? [{ ...codeField, value: code }, ...fields] : fields
  const body = html`<h1>Welcome to Berth</h1>
<p class="lead">This server has no account yet. Create the one that administers it.</p>
${alertOf(formError)}
<form method="post">
${isCodeShown ? null : html`<input type="hidden" name="code" value="${code!}">`}
${fieldsOf(all, formError, true)}
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

function alreadySetUp({ next }: SetupQuery, formError: FormError | null): Page {
  const body = html`<h1>This server is set up</h1>
<p class="lead">It already has an account: sign in instead.</p>
<p><a class="button" href="${withNext('/login', ownPath(next))}">Sign in</a></p>`
  return pageOf({ title: 'Set up', body, formError })
}
