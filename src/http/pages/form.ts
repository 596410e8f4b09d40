// Forms. Only the server validates formats, because browsers have other rules for e-mail addresses.
import { z } from 'zod'
import type { TokenRole } from '../../../storage/access/hashed-tokens.ts'
import { Setup } from '../../api/access/account.ts'
import { codeOf, Failure } from '../../errors.ts'
import { toProblem } from '../pipeline/problem.ts'
import type { Call } from '../pipeline/route.ts'
import type { HeaderList } from '../server/messages.ts'
import { attributesOf, type Html, html } from './html.ts'
import { toSentence } from './text.ts'

export interface Field {
  name: string
  label: string
  type?: 'password'
  /** For password managers and phones. */
  autocomplete: string
  inputMode?: 'email'
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
<input ${attributes}>
${note ? html`<p class="${problem ? 'problem' : 'hint'}" id="${name}-note">${note}</p>` : null}
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

type CheckboxOption = Omit<Option, 'isChecked'> & Partial<Pick<Option, 'isChecked'>>

interface Option {
  name: string
  value: string
  isChecked: boolean
  label: string
  note: string
}

const roles: [TokenRole, string, string][] = [
  ['admin', 'Admin', 'Everything, except managing this account and its tokens.'],
  [
    'deploy',
    'Deploy',
    'Deploys, restarts, scales and rolls back services, and runs jobs. What it runs gets their secrets.',
  ],
  ['read', 'Read', 'Sees everything except secret values. Changes nothing.'],
]

/** Selects Admin unless another role was submitted. */
export function roleChoice(chosen: string | undefined): Html {
  const known = roles.some(([role]) => role === chosen) ? chosen : 'admin'
  const options = roles.map(([value, label, note]) =>
    optionOf('radio', { name: 'role', value, isChecked: value === known, label, note }),
  )
  return html`<fieldset class="field"><legend>Role</legend>${options}</fieldset>`
}

export function checkbox({ isChecked = false, ...option }: CheckboxOption): Html {
  return html`<div class="field">${optionOf('checkbox', { ...option, isChecked })}</div>`
}

function optionOf(type: 'checkbox' | 'radio', { name, value, isChecked, label, note }: Option): Html {
  const attributes = attributesOf({ type, name, value, checked: isChecked })
  return html`<label class="option"><input ${attributes}>
<span><strong>${label}</strong> <span class="quiet">${note}</span></span></label>`
}

const lifetimes = [1, 7, 30, 90, 365]
const dayMs = 24 * 60 * 60 * 1000
const dated = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' })

/** One of several values; the first unless another one was chosen. */
export function choiceOf(
  name: string,
  label: string,
  choices: readonly (readonly [value: string, text: string])[],
  chosen: string | undefined,
): Html {
  const options = choices.map(
    ([value, text]) => html`<option ${attributesOf({ value, selected: value === chosen })}>${text}</option>`,
  )
  return html`<div class="field"><label for="${name}">${label}</label>
<select id="${name}" name="${name}">${options}</select></div>`
}

export function expiryChoice(chosen: string | undefined): Html {
  const ends = lifetimes.map((days): [string, string] => {
    const end = dated.format(Date.now() + days * dayMs)
    return [String(days), `in ${days} ${days === 1 ? 'day' : 'days'}, on ${end}`]
  })
  return choiceOf('expires_in_days', 'The token ends', [['', 'never'], ...ends], chosen)
}

export interface FormError {
  code: string
  status: number
  headers: HeaderList
  /** Sentences above the form; empty if the errors belong to fields. */
  messages: string[]
  /** A sentence for each invalid field, by field name. */
  fields: Map<string, string>
}

/** Rethrows errors that the user did not cause: they are logged and get their own page. */
export function toFormError(error: unknown, { requestId }: Pick<Call, 'requestId'>): FormError {
  const { body, headers } = toProblem(error, requestId)
  if (!(error instanceof Failure) || body.status >= 500) throw error
  const fields = new Map(error.details?.map(({ path, message }) => [path, toSentence(message)]))
  const messages = fields.size > 0 ? [] : [error.message, error.hint ?? ''].filter(Boolean).map(toSentence)
  return { code: codeOf(error), status: body.status, headers, messages, fields }
}

export function moveToField(formError: FormError, name: string): FormError {
  return { ...formError, messages: [], fields: new Map([[name, formError.messages.join(' ')]]) }
}

export function alertOf(formError: FormError | null): Html | null {
  if (!formError || formError.messages.length === 0) return null
  const [first, ...rest] = formError.messages
  return html`<div class="alert" role="alert"><p><strong>${first!}</strong></p>
${rest.length > 0 && html`<p>${rest.join(' ')}</p>`}</div>`
}

export const Form = z.record(z.string(), z.string())
export type Form = z.output<typeof Form>
