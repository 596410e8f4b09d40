// `/git/start` connects a git account in the browser, and `/git/callback` is where the provider sends the
// browser back to. A GET changes nothing, so the callback page submits its parameters as a form.
import { AuthorizeGit, CompleteGit, type GitRedirect } from '../../api/git-connection.ts'
import { authorizeGit, completeGit } from '../handlers/git-connections.ts'
import { originOf } from '../pipeline/origin.ts'
import type { Page } from '../pipeline/route.ts'
import { validate } from '../pipeline/validation.ts'
import { pagePolicyFor } from '../server/headers.ts'
import { providerChoice } from './choices.ts'
import { type Field, fieldsOf } from './fields.ts'
import { alertOf, type FormError, toFormError } from './form-error.ts'
import { attributesOf, html } from './html.ts'
import type { Form } from './input.ts'
import { pageOf } from './layout.ts'
import type { SignedInCall } from './signed-in.ts'

export const gitCallbackPath = '/git/callback'

/** The query may fill the fields in, as `berth git connect` does. */
export function showGitStart(call: SignedInCall<Form>): Page {
  return startPage(call.query, redirectUriOf(call), null)
}

export async function submitGitStart(call: SignedInCall<Form, Form>): Promise<Page> {
  const typed = call.body
  const redirect_uri = redirectUriOf(call)
  try {
    const filled = Object.entries(typed).filter(([name, value]) => name in AuthorizeGit.shape && value !== '')
    const request = { ...Object.fromEntries(filled), redirect_uri }
    return nextPage(await authorizeGit({ ...call, body: validate(AuthorizeGit, request) as AuthorizeGit }))
  } catch (error) {
    return startPage(typed, redirect_uri, withInstructions(toFormError(error, call)))
  }
}

function redirectUriOf({ context, request }: SignedInCall<Form>): string {
  const { scheme, host } = originOf(context, request)
  return `${scheme}://${host}${gitCallbackPath}`
}

/** The hint of the API names fields of a request. */
function withInstructions(formError: FormError): FormError {
  if (formError.code !== 'git_application_required') return formError
  const instructions = 'Register one there, and enter its ID and secret below.'
  return { ...formError, messages: [formError.messages[0]!, instructions] }
}

/** The parameters come from the provider, by way of the browser. */
export function showGitCallback({ query }: SignedInCall<Form>): Page {
  const names = Object.keys(CompleteGit.shape).filter((name) => query[name] !== undefined)
  const body = html`<h1>Connecting</h1>
<form method="post" action="${gitCallbackPath}" ${attributesOf({ 'data-submit': Boolean(query.state) })}>
${names.map((name) => html`<input type="hidden" name="${name}" value="${query[name]!}">`)}
<p class="lead">The account is being connected.</p>
<button>Continue</button>
</form>`
  return pageOf({ title: 'Connecting', body })
}

export async function submitGitCallback(call: SignedInCall<Form, Form>): Promise<Page> {
  try {
    const request = validate(CompleteGit, call.body) as CompleteGit
    return nextPage(await completeGit({ ...call, body: request }))
  } catch (error) {
    const formError = toFormError(error, call)
    const body = html`<h1>Not connected</h1>
${alertOf({ ...formError, messages: [...formError.messages, ...formError.fields.values()] })}
<p><a class="button" href="/git/start">Start again</a></p>`
    return pageOf({ title: 'Not connected', body, formError })
  }
}

function nextPage({ method, url, fields, connection }: GitRedirect): Page {
  if (url === null) return connectedPage(connection)
  const { origin, host } = new URL(url)
  if (method === 'get') {
    const body = html`<h1>Continue at ${host}</h1>
<p class="lead"><a class="button" href="${url}">Continue</a></p>`
    return pageOf({
      title: 'Continue',
      body,
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
  return pageOf({ title: 'Connected', body })
}

function startPage(typed: Form, redirectUri: string, formError: FormError | null): Page {
  const body = html`<h1>Connect a git account</h1>
<p class="lead">Berth lists the repositories of the account, and clones private ones when it deploys them.</p>
${alertOf(formError)}
<form method="post">
${typed.connection_id ? resumed(typed.connection_id) : choices(typed, redirectUri, formError)}
<button>Connect</button>
</form>`
  return pageOf({ title: 'Connect a git account', body, formError })
}

function resumed(id: string) {
  return html`<input type="hidden" name="connection_id" value="${id}">`
}

function choices(typed: Form, redirectUri: string, formError: FormError | null) {
  const application = `of the OAuth application that you register there with the redirect URI ${redirectUri}`
  const fields: Field[] = [
    {
      name: 'base_url',
      label: 'Address',
      hint: 'Only for a server of your own, such as https://gitlab.example.com.',
      ...optional,
    },
    {
      name: 'organization',
      label: 'Organization',
      hint: 'GitHub only: the organization that will own the app, if it is not you.',
      ...optional,
    },
    { name: 'client_id', label: 'Application ID', hint: `GitLab and Gitea: ${application}.`, ...optional },
    { name: 'client_secret', label: 'Application secret', type: 'password', ...optional },
  ]
  // A secret is not sent back to the browser.
  const typedFields = fields.map((field) => (field.type ? field : { ...field, value: typed[field.name] }))
  return html`${providerChoice(typed.provider)}${fieldsOf(typedFields, formError, false)}`
}

const optional = { autocomplete: 'off', isOptional: true } as const
