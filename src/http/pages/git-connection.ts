// `/git/start` connects a git account. `/git/callback` submits its query as a form: a GET changes nothing.
import { AuthorizeGit, CompleteGit, type GitRedirect } from '../../api/git-connection.ts'
import { ownAddressOf } from '../pipeline/origin.ts'
import type { Page } from '../pipeline/route.ts'
import { validate } from '../pipeline/validation.ts'
import { authorizeGit, completeGit } from '../routes/git-connections.ts'
import { pagePolicyFor } from '../server/headers.ts'
import {
  alertOf,
  checkbox,
  choiceOf,
  type Field,
  type Form,
  type FormError,
  fieldsOf,
  toFormError,
} from './form.ts'
import { html } from './html.ts'
import { gitStartPath, pageOf } from './layout.ts'
import type { SignedInCall } from './signed-in.ts'

export const gitCallbackPath = '/git/callback'

/** The query may fill the fields in, as `berth git connect` does. */
export function showGitStart(call: SignedInCall<Form>): Page {
  return startPage(call, call.query, null)
}

export async function submitGitStart(call: SignedInCall<Form, Form>): Promise<Page> {
  const typed = call.body
  try {
    const filled = Object.entries(typed).filter(([name, value]) => name in AuthorizeGit.shape && value !== '')
    const isChecked = typed.report_deploys === 'true'
    const request = {
      ...Object.fromEntries(filled),
      ...(isChecked && { report_deploys: true }),
      redirect_uri: redirectUriOf(call),
    }
    return nextPage(await authorizeGit({ ...call, body: validate(AuthorizeGit, request) }))
  } catch (error) {
    return startPage(call, typed, withInstructions(toFormError(error, call)))
  }
}

function redirectUriOf({ context, request }: SignedInCall<Form>): string {
  return `${ownAddressOf(context, request)}${gitCallbackPath}`
}

/** The hint of the API names fields of a request. */
function withInstructions(formError: FormError): FormError {
  if (formError.code !== 'git_application_required') return formError
  const instructions = 'Register one there, and enter its ID and secret below.'
  return { ...formError, messages: [formError.messages[0]!, instructions] }
}

/** The parameters come from the provider, by way of the browser. */
export function showGitCallback(call: SignedInCall<Form>): Page | Promise<Page> {
  const { query } = call
  const names = Object.keys(CompleteGit.shape).filter((name) => query[name] !== undefined)
  if (!query.state && query.error) {
    // A refusal without a state concerns no connection, so it changes nothing.
    return submitGitCallback({ ...call, body: Object.fromEntries(names.map((name) => [name, query[name]!])) })
  }
  if (!query.state && !query.installation_id) return nothingPage()
  const body = html`<h1>Connecting</h1>
<p class="lead">${query.state ? 'The provider has sent you back.' : 'GitHub has installed the app.'}</p>
<form method="post" action="${gitCallbackPath}">
${names.map((name) => html`<input type="hidden" name="${name}" value="${query[name]!}">`)}
<button>Continue</button>
</form>`
  return pageOf({ title: 'Connecting', body, isSignedIn: true })
}

function nothingPage(): Page {
  const body = html`<h1>No account to connect</h1>
<p class="lead">A git provider opens this page when you have agreed there.</p>
<p><a class="button" href="${gitStartPath}">Connect a git account</a></p>`
  return pageOf({ title: 'No account to connect', body, isSignedIn: true })
}

export async function submitGitCallback(call: SignedInCall<Form, Form>): Promise<Page> {
  try {
    const request = validate(CompleteGit, call.body)
    return nextPage(await completeGit({ ...call, body: request }))
  } catch (error) {
    const formError = toFormError(error, call)
    const body = html`<h1>Not connected</h1>
${alertOf(withoutFields(formError))}
<p><a class="button" href="${gitStartPath}">Start again</a></p>`
    return pageOf({ title: 'Not connected', body, formError, isSignedIn: true })
  }
}

/** The page has no fields, so that each message needs the name of its parameter. */
function withoutFields({ fields, ...formError }: FormError): FormError {
  const named = [...fields].map(([name, message]) => `${name}: ${message}`)
  return { ...formError, messages: [...formError.messages, ...named], fields: new Map() }
}

function nextPage({ method, url, fields, connection }: GitRedirect): Page {
  if (url === null) return connectedPage(connection)
  const { origin, host } = new URL(url)
  if (method === 'get') {
    const body = html`<h1>Continue at ${host}</h1>
<p><a class="button" href="${url}">Continue</a></p>`
    return pageOf({
      title: 'Continue',
      body,
      isSignedIn: true,
      head: html`<meta http-equiv="refresh" content="0; url=${url}">`,
    })
  }
  const body = html`<h1>Continue at ${host}</h1>
<p class="lead">GitHub registers an app for this server. It may read only the repositories you choose.</p>
<form method="post" action="${url}">
${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button>Continue</button>
</form>`
  return pageOf({ title: 'Continue', body, policy: pagePolicyFor(origin) })
}

function connectedPage({ account, provider, base_url: address }: GitRedirect['connection']): Page {
  const body = html`<h1>Connected</h1>
<p class="lead"><strong>${account ?? provider}</strong> at ${new URL(address).host} is connected.
Its repositories can now be deployed.</p>
<p class="command"><code>berth git repos</code></p>
<p class="quiet">You can close this page.</p>`
  return pageOf({ title: 'Connected', body, isSignedIn: true })
}

const providers = [
  ['github', 'GitHub'],
  ['gitlab', 'GitLab'],
  ['gitea', 'Gitea or Forgejo'],
] as const

const accountFields: Field[] = [
  {
    name: 'base_url',
    label: 'Address',
    hint: 'Of your own server, such as https://git.example.com. Gitea and Forgejo always need it.',
    autocomplete: 'off',
    isOptional: true,
  },
  {
    name: 'organization',
    label: 'Organization',
    hint: 'At GitHub, it will own the app. Without one, you do.',
    autocomplete: 'off',
    isOptional: true,
  },
]

const applicationFields: Field[] = [
  { name: 'client_id', label: 'Application ID', autocomplete: 'off', isOptional: true },
  {
    name: 'client_secret',
    label: 'Application secret',
    type: 'password',
    autocomplete: 'off',
    isOptional: true,
  },
]

const reportChoice = {
  name: 'report_deploys',
  value: 'true',
  label: 'Report deploys',
  note: 'as statuses of their commits. At GitLab this needs the scope api instead of read_api.',
}

/** A connection that is resumed has its provider and its address. Its application may be missing. */
function startPage(call: SignedInCall<Form>, typed: Form, formError: FormError | null): Page {
  const fieldsIn = (fields: Field[]) =>
    // A secret is not sent back to the browser.
    fieldsOf(
      fields.map((field) => ({ ...field, value: field.type ? undefined : typed[field.name] })),
      formError,
      false,
    )
  const account = typed.connection_id
    ? html`<input type="hidden" name="connection_id" value="${typed.connection_id}">`
    : html`${choiceOf('provider', 'Provider', providers, typed.provider)}${fieldsIn(accountFields)}`
  const body = html`<h1>Connect a git account</h1>
<p class="lead">Berth lists the repositories of the account, and clones private ones when it deploys them.</p>
${alertOf(formError)}
<form method="post">
${account}
<p>GitHub registers an app for this server, and asks which repositories it may read. GitLab, Gitea and
Forgejo need an OAuth application, which the server keeps for later accounts: register it there with this
redirect URI, at GitLab with the scopes <code>read_api</code> and <code>read_repository</code>.</p>
<p class="command"><code>${redirectUriOf(call)}</code></p>
${fieldsIn(applicationFields)}
${checkbox({ ...reportChoice, isChecked: typed.report_deploys === 'true' })}
<button>Continue</button>
</form>`
  return pageOf({ title: 'Connect a git account', body, formError, path: gitStartPath, isSignedIn: true })
}
