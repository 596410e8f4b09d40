// `/account`: user, sessions and tokens. Each form has a hidden field `act`. A new token is shown once.
import {
  ChangePassword,
  type CreatedToken,
  CreateToken,
  type Session,
  SessionParams,
  type Token,
  TokenParams,
} from '../../api/access/account.ts'
import { invalidRequest } from '../../errors.ts'
import { ownAddressOf } from '../pipeline/origin.ts'
import { Page } from '../pipeline/route.ts'
import { validate } from '../pipeline/validation.ts'
import * as account from '../routes/account.ts'
import {
  alertOf,
  checkbox,
  expiryChoice,
  type Field,
  type Form,
  type FormError,
  fieldsOf,
  moveToField,
  newPasswordField,
  passwordField,
  roleChoice,
  toFormError,
  usernameOf,
} from './form.ts'
import { attributesOf, type Html, html } from './html.ts'
import { accountPath, manualPath, pageOf, redirect } from './layout.ts'
import type { SignedInCall } from './signed-in.ts'
import { relativeTime } from './text.ts'

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
  const { headers } = await account.deleteSession({ ...call, params })
  return redirect(accountPath, headers)
}

async function endOtherSessions(call: FormCall): Promise<Page> {
  await account.deleteOtherSessions(call)
  return redirect(accountPath)
}

async function createToken(call: FormCall): Promise<Page> {
  const { name, role, services, expires_in_days: days } = call.body
  const names = services?.split(/[\s,]+/).filter((one) => one !== '') ?? []
  const limits = { services: names.length > 0 ? names : null, expires_in_days: days ? Number(days) : null }
  const grant = { name, role, ...limits }
  const body = validate(CreateToken, grant)
  return pageFor(call, { created: await account.createToken({ ...call, body }) })
}

async function revokeToken(call: FormCall): Promise<Page> {
  const { id } = call.body
  const params = validate(TokenParams, { id })
  await account.deleteToken({ ...call, params })
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
    sessions: account.listSessions(call),
    tokens: account.listTokens(call),
    loginCommand: `berth login ${ownAddressOf(context, request)}`,
    startCode: context.terminalLogins.startCode.current(),
  }
  return accountPage(details, outcome)
}

interface AccountDetails {
  email: string
  /** With the address that this browser uses. */
  loginCommand: string
  startCode: string
  sessions: Session[]
  tokens: Token[]
}

interface FormOutcome {
  created?: CreatedToken
  done?: string
  formError?: FormError
  typed?: Form
}

function accountPage(details: AccountDetails, outcome: FormOutcome): Page {
  const { email, sessions, tokens } = details
  const { created, done, formError = null, typed = {} } = outcome
  const body = html`<h1>Account</h1>
<p class="lead">Signed in as <strong>${email}</strong></p>
<nav aria-label="On this page"><a href="${accountPath}#tokens">API tokens</a>
<a href="${accountPath}#sessions">Sessions</a> <a href="${accountPath}#password">Password</a></nav>
${alertOf(formError)}
${done ? html`<div class="done" role="status"><p><strong>${done}</strong></p></div>` : null}
${created ? newToken(created) : null}
${terminalSection(details)}
${tokenSection(tokens, typed, formError)}
${sessionSection(sessions)}
${passwordSection(email, typed, formError)}`
  return pageOf({ title: 'Account', body, formError, path: accountPath, isSignedIn: true, width: 'wide' })
}

/** What comes next on a new server, until there is a token. */
function terminalSection({ tokens, loginCommand, startCode }: AccountDetails): Html {
  const isNew = tokens.length === 0
  return html`<section aria-labelledby="terminal">
<h2 id="terminal">${isNew ? 'Next: connect your terminal' : 'Connect a terminal'}</h2>
${isNew && html`<p>Run this where your code is. It opens a page here, where you approve it.</p>`}
<p class="command"><code>${loginCommand}</code></p>
${
  isNew &&
  html`<p>Then <code>berth up</code> deploys the folder that you are in.
<a href="${manualPath}/getting-started">Getting started</a> shows each step.</p>`
}
<p><a href="${manualPath}/cli">All commands of berth</a></p>
<details><summary>If the server gets too many logins</summary>
<p>This start code lets your terminal ask anyway. You still approve it here.</p>
<p class="command"><code>${loginCommand} --code ${startCode}</code></p>
<p class="quiet">It works for at least ten minutes. Reload this page for a new one.</p></details>
</section>`
}

/** A closed form behind its title; open if it has an error. */
function disclosed(title: string, act: string, typed: Form, content: Html): Html {
  const attributes = attributesOf({ open: typed.act === act })
  return html`<details ${attributes}><summary>${title}</summary>${formFor(act, content)}</details>`
}

/** `act` must be a key of `acts`. */
function formFor(act: string, content: Html): Html {
  return html`<form method="post"><input type="hidden" name="act" value="${act}">${content}</form>`
}

function newToken({ api_token: { name }, token }: CreatedToken): Html {
  return html`<div class="done" role="status">
<p><strong>The token <bdi>${name}</bdi> was created.</strong> Copy it now: it is shown only here.</p>
<p class="command"><code>${token}</code></p>
</div>`
}

function tokenSection(tokens: Token[], typed: Form, formError: FormError | null): Html {
  const fields: Field[] = [
    { name: 'name', label: 'Name', autocomplete: 'off', value: typed.name },
    {
      name: 'services',
      label: 'Services',
      autocomplete: 'off',
      value: typed.services,
      hint: 'For a read or deploy token: names of services, separated by commas. Empty for all.',
      isOptional: true,
    },
  ]
  const form = html`${fieldsOf(fields, formError, false)}${roleChoice(typed.role)}
${expiryChoice(typed.expires_in_days)}<button>Create a token</button>`
  return html`<section aria-labelledby="tokens">
<h2 id="tokens">API tokens</h2>
<p>For scripts, CI and terminals. No token can manage this account.</p>
${tokens.length > 0 ? html`<ul>${tokens.map(tokenRow)}</ul>` : null}
${disclosed('New token', 'create-token', typed, form)}
</section>`
}

/** Asks for confirmation, because a revocation cannot be undone. */
function tokenRow({ id, name, hint, role, services, created_at, expires_at, last_used_at }: Token): Html {
  const revoke = html`<input type="hidden" name="id" value="${id}">
<p>Requests that use it are rejected immediately.</p><button class="danger">Revoke it</button>`
  return html`<li>
<p><strong><bdi>${name}</bdi></strong> <span class="quiet">…${hint}</span>
<span class="tag">${role}</span></p>
${services ? html`<p class="quiet">Only for ${services.join(', ')}</p>` : null}
<p class="quiet">Created ${relativeTime(created_at)},
${last_used_at ? html`last used ${relativeTime(last_used_at)}` : 'never used'},
${expires_at ? html`expires ${relativeTime(expires_at)}` : 'never expires'}</p>
<details><summary>Revoke …</summary>${formFor('revoke-token', revoke)}</details>
</li>`
}

const endOthers = html`<button class="second">End all other sessions</button>`

function sessionSection(sessions: Session[]): Html {
  return html`<section aria-labelledby="sessions">
<h2 id="sessions">Sessions</h2>
<p>The browsers that are signed in.</p>
<ul>${sessions.map(sessionRow)}</ul>
${sessions.length > 1 ? formFor('end-other-sessions', endOthers) : null}
</section>`
}

/** The first match names it: browsers also claim to be those that they descend from. */
const browsers = {
  Edge: /Edg/,
  Opera: /OPR\//,
  Firefox: /Firefox|FxiOS/,
  Chrome: /Chrome|CriOS/,
  Safari: /Safari/,
}
const systems = {
  Android: /Android/,
  iOS: /iPhone|iPad/,
  Windows: /Windows/,
  macOS: /Mac OS X/,
  Linux: /Linux/,
}

/** `Firefox on Linux`; for an unknown one, its user agent. */
export function browserOf(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown browser'
  const [browser, system] = [browsers, systems].map(
    (known) => Object.entries(known).find(([, pattern]) => pattern.test(userAgent))?.[0],
  )
  return browser && system ? `${browser} on ${system}` : userAgent.slice(0, 60)
}

function sessionRow({ id, created_at, last_used_at, user_agent, current }: Session): Html {
  const end = html`<input type="hidden" name="id" value="${id}"><button class="second">End</button>`
  return html`<li class="row">
<div>
<p><strong>${browserOf(user_agent)}</strong>
${current ? html`<span class="tag">this one</span>` : null}</p>
<p class="quiet">Signed in ${relativeTime(created_at)}, last used ${relativeTime(last_used_at)}</p></div>
${current ? null : formFor('end-session', end)}
</li>`
}

function passwordSection(email: string, typed: Form, formError: FormError | null): Html {
  const fields: Field[] = [
    {
      ...passwordField,
      name: 'current_password',
      label: 'Current password',
      autocomplete: 'current-password',
    },
    { ...newPasswordField, name: 'new_password', label: 'New password' },
  ]
  const revoking = checkbox({
    name: 'revoke_tokens',
    value: 'true',
    label: 'Revoke all API tokens',
    note: 'Scripts and terminals have to be connected again.',
  })
  const content = html`${usernameOf(email)}${fieldsOf(fields, formError, false)}${revoking}
<button>Set the new password</button>`
  return html`<section aria-labelledby="password">
<h2 id="password">Password</h2>
<p>A new password ends all other sessions.</p>
${disclosed('Change the password', 'change-password', typed, content)}
</section>`
}
