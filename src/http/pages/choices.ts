// Form controls: the role and expiry of a token, and checkboxes.
import type { TokenRole } from '../../../storage/access/tokens.ts'
import { attributesOf, type Html, html } from './html.ts'

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

export function checkbox(option: Omit<Option, 'isChecked'>): Html {
  return html`<div class="field">${optionOf('checkbox', { ...option, isChecked: false })}</div>`
}

function optionOf(type: 'checkbox' | 'radio', { name, value, isChecked, label, note }: Option): Html {
  const attributes = attributesOf({ type, name, value, checked: isChecked })
  return html`<label class="option"><input ${attributes}>
<span><strong>${label}</strong> <span class="quiet">${note}</span></span></label>`
}

const lifetimes = [1, 7, 30, 90, 365]
const dayMs = 24 * 60 * 60 * 1000
const dated = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' })

export function expiryChoice(chosen: string | undefined): Html {
  const options = lifetimes.map((days) => {
    const attributes = attributesOf({ value: String(days), selected: String(days) === chosen })
    const end = dated.format(Date.now() + days * dayMs)
    return html`<option ${attributes}>in ${days} ${days === 1 ? 'day' : 'days'}, on ${end}</option>`
  })
  return html`<div class="field"><label for="expires_in_days">The token ends</label>
<select id="expires_in_days" name="expires_in_days"><option value="">never</option>${options}</select></div>`
}
