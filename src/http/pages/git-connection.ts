// `/git/start` connects a git account. `/git/callback` submits its query as a form: a GET changes nothing.
import { AuthorizeGit, CompleteGit, type GitRedirect } from '../../api/git-connection.ts'
import { ownAddressOf } from '../pipeline/origin.ts'
import type { Page } from '../pipeline/route.ts'
import { validate } from '../pipeline/validation.ts'
import { authorizeGit, completeGit } from '../routes/git-connections.ts'
import { pagePolicyFor } from '../server/headers.ts'
import { alertOf, type Field, type Form, type FormError, fieldsOf, toFormError } from './form.ts'
import { attributesOf, type Html, html } from './html.ts'
import { gitStartPath, pageOf } from './layout.ts'
import type { SignedInCall } from './signed-in.ts'

export const gitCallbackPath = '/git/callback'

/** The query may fill the fields in, as `berth git connect` does. */
export function showGitStart(call: SignedInCall<Form>): Page {
  return gitStartPage(call, call.query, null)
}

export async function submitGitStart(call: SignedInCall<Form, Form>): Promise<Page> {
  const typed = call.body
  try {
    const filled = Object.entries(typed).filter(([name, value]) => name in AuthorizeGit.shape && value !== '')
    const request = { ...Object.fromEntries(filled), redirect_uri: redirectUriOf(call) }
    return nextPage(await authorizeGit({ ...call, body: validate(AuthorizeGit, request) }))
  } catch (error) {
    return gitStartPage(call, typed, withInstructions(toFormError(error, call)))
  }
}

function gitStartPage(call: SignedInCall<Form>, typed: Form, formError: FormError | null): Page {
  const { storage } = call.context
  const form = {
    typed,
    formError,
    redirectUri: redirectUriOf(call),
    hasApplication: storage.gitConnections.hasApplication,
  }
  return startPage(form)
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
  const isSent = Boolean(query.state)
  const body = html`<h1>Connecting</h1>
<p class="lead">${isSent ? 'The account is being connected.' : 'GitHub has installed the app.'}</p>
<form method="post" action="${gitCallbackPath}" ${attributesOf({ 'data-submit': isSent })}>
${names.map((name) => html`<input type="hidden" name="${name}" value="${query[name]!}">`)}
<button>Continue</button>
</form>`
  return pageOf({ title: 'Connecting', body, reader: 'user' })
}

function nothingPage(): Page {
  const body = html`<h1>No account to connect</h1>
<p class="lead">A git provider opens this page when you have agreed there.</p>
<p><a class="button" href="${gitStartPath}">Connect a git account</a></p>`
  return pageOf({ title: 'No account to connect', body, reader: 'user' })
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
    return pageOf({ title: 'Not connected', body, formError, reader: 'user' })
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
      reader: 'user',
      head: html`<meta http-equiv="refresh" content="0; url=${url}">`,
    })
  }
  const body = html`<h1>Continue at ${host}</h1>
<p class="lead">GitHub registers an app for this server. It may read only the repositories you choose.</p>
<form method="post" action="${url}" data-submit>
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
  return pageOf({ title: 'Connected', body, reader: 'user' })
}

interface StartForm {
  typed: Form
  formError: FormError | null
  redirectUri: string
  hasApplication(provider: string): boolean
}

function startPage(form: StartForm): Page {
  const { typed, formError } = form
  const provider = providers.find(({ name }) => name === typed.provider) ?? providers[0]
  const isResumed = Boolean(typed.connection_id)
  const body = html`<h1>Connect a git account</h1>
<p class="lead">Berth lists the repositories of the account, and clones private ones when it deploys them.</p>
${isResumed ? null : providerLinks(provider)}
${alertOf(formError)}
<form method="post">
${isResumed ? resumedFields(form) : providerFields(provider, form)}
</form>`
  return pageOf({ title: 'Connect a git account', body, formError, path: gitStartPath, reader: 'user' })
}

type FieldText = Omit<Field, 'autocomplete'>

interface Provider {
  name: string
  label: string
  button: string
  note: string | null
  fields: FieldText[]
  /** Where its OAuth application is registered, and with what; null without one. */
  application: Html | null
  /** Fields that few need, behind their title. */
  further: { title: string; fields: FieldText[] } | null
}

const organization = {
  name: 'organization',
  label: 'Organization',
  hint: 'It will own the app. Without one, you do.',
  isOptional: true,
} as const

const providers: [Provider, ...Provider[]] = [
  {
    name: 'github',
    label: 'GitHub',
    button: 'Continue with GitHub',
    note: 'GitHub registers an app for this server, and asks which repositories it may read.',
    fields: [],
    application: null,
    further: {
      title: 'For an organization or your own GitHub server',
      fields: [organization, { ...addressOf('https://github.example.com'), isOptional: true }],
    },
  },
  {
    name: 'gitlab',
    label: 'GitLab',
    button: 'Continue with GitLab',
    note: null,
    fields: [],
    application: html`GitLab with the scopes <code>read_api</code>, <code>read_repository</code> and`,
    further: {
      title: 'For your own GitLab server',
      fields: [{ ...addressOf('https://gitlab.example.com'), isOptional: true }],
    },
  },
  {
    name: 'gitea',
    label: 'Gitea, Forgejo',
    button: 'Continue',
    note: null,
    fields: [addressOf('https://git.example.com')],
    application: html`your server with`,
    further: null,
  },
]

function addressOf(example: string) {
  return { name: 'base_url', label: 'Address', hint: `Such as ${example}.` } as const
}

function providerLinks(chosen: Provider): Html {
  const links = providers.map(({ name, label }) => {
    const current = attributesOf({ 'aria-current': name === chosen.name ? 'true' : undefined })
    return html`<a href="${gitStartPath}?provider=${name}" ${current}>${label}</a>`
  })
  return html`<nav class="tabs" aria-label="Provider">${links}</nav>`
}

function providerFields(provider: Provider, form: StartForm): Html {
  const { name, button, note, fields, application, further } = provider
  const isKnown = form.hasApplication(name)
  return html`<input type="hidden" name="provider" value="${name}">
${note === null ? null : html`<p>${note}</p>`}
${fieldsIn(form, fields)}
${application && !isKnown && applicationFields(form, application)}
<button>${button}</button>
${application && isKnown && otherApplication(form, application)}
${further && furtherFields(further, form)}`
}

/** The connection knows its provider and its address. Its application may be missing. */
function resumedFields(form: StartForm): Html {
  return html`<input type="hidden" name="connection_id" value="${form.typed.connection_id!}">
${isWithoutApplication(form) && applicationFields(form, html`the provider with`)}
<button>Continue</button>`
}

function isWithoutApplication({ formError }: StartForm): boolean {
  return formError?.code === 'git_application_required'
}

function applicationFields(form: StartForm, place: Html, isNeeded = true): Html {
  const optional = isNeeded ? {} : ({ isOptional: true } as const)
  const fields: FieldText[] = [
    { name: 'client_id', label: 'Application ID', ...optional },
    { name: 'client_secret', label: 'Application secret', type: 'password', ...optional },
  ]
  return html`<p>Register an OAuth application at ${place} this redirect URI:</p>
<p class="command"><code>${form.redirectUri}</code></p>
${fieldsIn(form, fields)}`
}

/** The known application may be of another server. A closed field cannot be required in a browser. */
function otherApplication(form: StartForm, place: Html): Html {
  const fields = applicationFields(form, place, false)
  return html`<details ${attributesOf({ open: isWithoutApplication(form) })}>
<summary>With another application</summary>${fields}</details>`
}

function furtherFields({ title, fields }: NonNullable<Provider['further']>, form: StartForm): Html {
  const isUsed = fields.some(({ name }) => form.typed[name] || form.formError?.fields.has(name))
  return html`<details ${attributesOf({ open: isUsed })}><summary>${title}</summary>
${fieldsIn(form, fields)}</details>`
}

/** A secret is not sent back to the browser. */
function fieldsIn({ typed, formError }: StartForm, fields: FieldText[]): Html {
  const filled = fields.map((field) => ({
    autocomplete: 'off',
    ...field,
    value: field.type ? undefined : typed[field.name],
  }))
  return html`${fieldsOf(filled, formError, false)}`
}
