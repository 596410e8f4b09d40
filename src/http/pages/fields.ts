// Form fields with label, input, hint and error. Only the server validates formats, because browsers have
// other rules for e-mail addresses, and change some of them.
import { Setup } from '../../api/access/account.ts'
import type { FormError } from './form-error.ts'
import { attributesOf, type Html, html } from './html.ts'
import { markedUp } from './text.ts'

export interface Field {
  name: string
  label: string
  type?: 'password' | 'number'
  /** For password managers and phones. */
  autocomplete: string
  inputMode?: 'email' | 'numeric'
  value?: string | undefined
  hint?: string
  isOptional?: true
}

/** `isFocused`: the first invalid field, or else the first empty one, gets the focus. */
export function fieldsOf(fields: readonly Field[], formError: FormError | null, isFocused: boolean): Html[] {
  const wrong = fields.find(({ name }) => formError?.fields.has(name))
  const focused = wrong ?? (isFocused ? fields.find(({ value }) => !value) : undefined)
  return fields.map((field) => fieldOf(field, formError?.fields.get(field.name) ?? null, field === focused))
}

function fieldOf(field: Field, problem: string | null, isFocused: boolean): Html {
  const { name, label, type = 'text', autocomplete, inputMode, value, hint, isOptional } = field
  const note = problem ?? hint
  const attributes = attributesOf({
    id: name,
    name,
    type,
    value: value || undefined,
    autocomplete,
    inputmode: inputMode,
    autocapitalize: 'none',
    spellcheck: 'false',
    required: !isOptional,
    autofocus: isFocused,
    'aria-describedby': note && `${name}-note`,
    'aria-invalid': problem ? 'true' : undefined,
  })
  return html`<div class="field">
<label for="${name}">${label}${isOptional ? html` <span class="quiet">optional</span>` : null}</label>
${type === 'password' ? html`<div class="secret"><input ${attributes}></div>` : html`<input ${attributes}>`}
${note ? html`<p class="${problem ? 'problem' : 'hint'}" id="${name}-note">${markedUp(note)}</p>` : null}
</div>`
}

export const emailField = {
  name: 'email',
  label: 'E-mail',
  autocomplete: 'username',
  inputMode: 'email',
} as const satisfies Field

export const passwordField = { name: 'password', label: 'Password', type: 'password' } as const

export const newPasswordField = {
  type: 'password',
  autocomplete: 'new-password',
  hint: Setup.shape.password.meta()!.description!,
} as const

/** Identifies the account to password managers. It has no name, so it is not sent. */
export function usernameOf(email: string): Html {
  return html`<input type="text" autocomplete="username" value="${email}" hidden readonly>`
}
