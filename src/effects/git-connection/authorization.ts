import type { GitConnectionInput } from '../../../machines/git-connection/git-connection-context.ts'
import type { By, RecordOf } from '../../../storage/actors/actors.ts'
import type { GitGrant } from '../../../storage/git-authorizations.ts'
import type { GitApplication } from '../../../storage/git-connections.ts'
import { newSecret } from '../../account/secrets.ts'
import { Failure, RejectedNow } from '../../errors.ts'
import { type ProviderName, parseBaseUrl, providerTitles } from '../../git-providers/base-url.ts'
import {
  findInstallation,
  installationUrl,
  readInstallation,
  registrationForm,
} from '../../git-providers/github-app.ts'
import { authorizationUrl, scopesOf } from '../../git-providers/oauth.ts'
import { ProviderRejection } from '../../git-providers/request.ts'
import { isoNow } from '../iso-now.ts'
import { appHookUrl } from './hooks.ts'
import { findConnection, instanceOf, listConnections, waitForEndOf } from './instance.ts'
import type { AuthorizationPorts, GitConnectionPorts } from './ports.ts'

export interface CallbackRequest {
  state: string | null
  code: string | null
  installationId: number | null
  setupAction: string | null
  error: string | null
  errorDescription: string | null
}

/** What the browser does next; null if the account is connected. */
type Redirect =
  | { method: 'get'; url: string }
  | { method: 'post'; url: string; fields: Record<string, string> }

export interface AuthorizationStep {
  connectionId: string
  redirect: Redirect | null
}

type Connection = RecordOf<'git-connection'>

const stateLifetimeMs = 60 * 60 * 1000

/** Starts or resumes one. Throws `git_application_required`, and what the provider's step throws. */
export async function authorize(
  ports: AuthorizationPorts,
  request: AuthorizationRequest,
): Promise<AuthorizationStep> {
  const known = request.connectionId ? findResumed(ports, request) : await begin(ports, request)
  const connection = await withReports(ports, known, request)
  if (connection.phase === 'exchanging') throw exchangeInProgress()
  if (connection.auth === 'token') {
    throw new Failure(
      'invalid_request',
      'this connection uses a token: connect the account with a new token instead',
    )
  }
  if (connection.auth === 'oauth') {
    return redirectToOauth(ports, connection, request)
  }
  return continueApp(ports, connection, request.redirectUri)
}

async function withReports(
  { storage, actors }: GitConnectionPorts,
  connection: Connection,
  { reportDeploys, by: asker }: AuthorizationRequest,
): Promise<Connection> {
  const { id, report_deploys } = connection
  if (reportDeploys === null || reportDeploys === report_deploys) return connection
  const by = 'the administrator'
  await actors.send(id, { type: 'reports.set', at: isoNow(), by, asker, reportDeploys })
  return findConnection(storage, id)
}

/** Throws `invalid_request` for a request that describes another connection. */
function findResumed({ storage }: GitConnectionPorts, request: AuthorizationRequest): Connection {
  const connection = findConnection(storage, request.connectionId!)
  const { provider, base_url, organization } = connection
  const baseUrl = request.baseUrl === null ? base_url : parseBaseUrl(provider, request.baseUrl)
  const problem = `contradicts connection_id ${connection.id}`
  if ((request.provider ?? provider) !== provider) throw invalid('provider', problem)
  if (baseUrl !== base_url) throw invalid('base_url', problem)
  if ((request.organization ?? organization) !== organization) throw invalid('organization', problem)
  return connection
}

/** Throws `invalid_request` for an unknown state, `git_authorization_rejected` for a refusal. */
export async function completeAuthorization(
  ports: AuthorizationPorts,
  request: CallbackRequest,
): Promise<AuthorizationStep> {
  if (request.state === null) return rereadInstallation(ports, request)
  const isRefused = request.error !== null || isWaitingForOwner(request)
  const state = await ports.storage.gitAuthorizations.useState(
    request.state,
    Date.now(),
    ({ redirectUri }) =>
      isRefused ? null : { code: request.code, installationId: request.installationId, redirectUri },
  )
  if (state === null) {
    throw new Failure(
      'invalid_request',
      'this authorization has expired or was already used',
      'start it again',
    )
  }
  if (isWaitingForOwner(request)) {
    throw new RejectedNow('an owner of the organization has to approve the installation of the app first')
  }
  assertNotDenied(request)
  return runExchange(ports, state.connectionId, state.redirectUri)
}

function isWaitingForOwner({ setupAction, installationId }: CallbackRequest): boolean {
  return setupAction === 'request' && installationId === null
}

const maxRefusalLength = 300

function assertNotDenied({ error, errorDescription }: CallbackRequest): void {
  if (error === null) return
  const text = errorDescription ?? (error === 'access_denied' ? 'the authorization was denied' : error)
  throw new RejectedNow(text.replace(/\p{Cc}/gu, ' ').slice(0, maxRefusalLength))
}

/** The actor exchanges the stored grant. A step may remain: a new app still has to be installed. */
async function runExchange(
  ports: AuthorizationPorts,
  id: string,
  redirectUri: string,
): Promise<AuthorizationStep> {
  const { storage, actors } = ports
  const { applied } = await actors.send(id, { type: 'callback', at: isoNow(), by: 'the browser' })
  if (!applied) throw exchangeInProgress()
  const late = new Failure('git_provider_unavailable', 'the provider did not respond in time')
  const settled = await waitForEndOf('exchanging', id, storage, late)
  if (settled.merged_into !== null) return { connectionId: settled.merged_into, redirect: null }
  if (settled.error !== null) throw failureOf(settled)
  if (settled.status === 'connected') return { connectionId: id, redirect: null }
  return continueApp(ports, settled, redirectUri)
}

function exchangeInProgress(): Failure {
  const text = 'the connection is being deleted, or is exchanging another authorization'
  return new Failure('conflict', text, 'try again in a moment')
}

function failureOf({ error, error_code }: Connection): Failure {
  if (error_code === 'git_authorization_rejected') return new RejectedNow(error!)
  return new Failure(error_code ?? 'git_provider_unavailable', error!)
}

/** A new application replaces the stored one of the instance only when an account has authorized it. */
async function redirectToOauth(
  ports: GitConnectionPorts,
  { id, provider, base_url: baseUrl, report_deploys: reportsDeploys }: Connection,
  request: AuthorizationRequest,
): Promise<AuthorizationStep> {
  const { gitAuthorizations, gitConnections } = ports.storage
  const kept = gitConnections.application(provider, baseUrl)
  // One that worked comes before one that was typed earlier and never worked.
  const pending = applicationOf(request) ?? (kept ? null : (gitAuthorizations.grant(id)?.application ?? null))
  const application = pending ?? kept
  if (!application) throw applicationRequired(provider as Exclude<ProviderName, 'github'>, reportsDeploys)
  await gitAuthorizations.putGrant(id, { grant: null, application: pending, sentAt: null, outcome: null })
  const { redirectUri } = request
  const state = await newState(ports, id, redirectUri)
  const { clientId } = application
  const url = authorizationUrl({ provider, baseUrl }, { clientId, redirectUri, state, reportsDeploys })
  return { connectionId: id, redirect: { method: 'get', url } }
}

/** The next step of an app: its registration, its installation, or none if it is installed. */
async function continueApp(
  ports: AuthorizationPorts,
  connection: Connection,
  redirectUri: string,
): Promise<AuthorizationStep> {
  const { id, base_url: baseUrl, organization, app_url: appUrl } = connection
  if (appUrl === null) {
    const state = await newState(ports, id, redirectUri)
    const { url, manifest } = registrationForm(
      { baseUrl },
      {
        organization,
        redirectUri,
        state,
        hookUrl: appHookUrl(ports, id, redirectUri),
        reportsDeploys: connection.report_deploys,
      },
    )
    return { connectionId: id, redirect: { method: 'post', url, fields: { manifest } } }
  }
  if (await isInstalled(ports, connection)) {
    if (connection.status === 'connected') return { connectionId: id, redirect: null }
    await putGrant(ports, id, { code: null, installationId: null, redirectUri })
    return runExchange(ports, id, redirectUri)
  }
  const state = await newState(ports, id, redirectUri)
  return { connectionId: id, redirect: { method: 'get', url: installationUrl(appUrl, state) } }
}

async function isInstalled(ports: GitConnectionPorts, connection: Connection): Promise<boolean> {
  const secrets = ports.storage.gitConnections.secrets(connection.id)
  if (secrets?.kind !== 'app') return false
  try {
    const installation = await findInstallation(instanceOf(connection, ports.settings.gitHosts), secrets)
    return installation !== null && !installation.isSuspended
  } catch (error) {
    if (!(error instanceof ProviderRejection)) throw error
    const hint = `berth git rm ${connection.id}, then connect the account again`
    throw new Failure(
      'git_authorization_rejected',
      `GitHub does not accept the app any more: ${error.message}`,
      hint,
    )
  }
}

/** After a change on the provider's page, which sends the browser back without a state. */
async function rereadInstallation(
  ports: AuthorizationPorts,
  request: CallbackRequest,
): Promise<AuthorizationStep> {
  const { installationId } = request
  assertNotDenied(request)
  if (installationId === null) throw invalid('state', 'is required, unless installation_id is given')
  const known = await findInstalled(ports, installationId)
  if (known === null) throw invalid('installation_id', 'belongs to no app of this server')
  await putGrant(ports, known.id, { code: null, installationId, redirectUri: '' })
  return runExchange(ports, known.id, '')
}

/** An installation that an owner approved later is not known yet, so the waiting apps are asked for it. */
async function findInstalled(ports: GitConnectionPorts, installationId: number): Promise<Connection | null> {
  const connections = listConnections(ports.storage)
  const known = connections.find((connection) => connection.installation_id === installationId)
  if (known) return known
  for (const connection of connections.filter(
    ({ app_url, status }) => app_url !== null && status !== 'connected',
  )) {
    const secrets = ports.storage.gitConnections.secrets(connection.id)
    if (secrets?.kind !== 'app') continue
    const instance = instanceOf(connection, ports.settings.gitHosts)
    const found = await readInstallation(instance, secrets, installationId).catch((error: unknown) => {
      if (error instanceof ProviderRejection) return null
      throw error
    })
    if (found) return connection
  }
  return null
}

function putGrant({ storage }: GitConnectionPorts, id: string, grant: GitGrant): Promise<void> {
  return storage.gitAuthorizations.putGrant(id, { grant, application: null, sentAt: null, outcome: null })
}

async function newState(
  { storage }: GitConnectionPorts,
  connectionId: string,
  redirectUri: string,
): Promise<string> {
  const state = newSecret()
  const expiresAt = new Date(Date.now() + stateLifetimeMs).toISOString()
  await storage.gitAuthorizations.putState(state, { connectionId, redirectUri, expiresAt })
  return state
}

export interface AuthorizationRequest {
  /** Null to resume a connection. */
  provider: ProviderName | null
  baseUrl: string | null
  organization: string | null
  clientId: string | null
  clientSecret: string | null
  connectionId: string | null
  redirectUri: string
  /** Null keeps what a known connection does. */
  reportDeploys: boolean | null
  by: By
}

const organizationPattern = /^[a-z0-9](?:[a-z0-9-]{0,37}[a-z0-9])?$/i

/**
 * A pending connection of the same kind is continued, so that canceled attempts do not pile up. Not one whose
 * app may be registered at this moment in another tab: each registration brings an app of its own.
 */
async function begin(ports: GitConnectionPorts, request: AuthorizationRequest): Promise<Connection> {
  const input = inputOf(ports, request)
  const { storage } = ports
  const isSame = (one: Connection) =>
    one.status === 'pending' &&
    one.phase !== 'installing' &&
    !(one.auth === 'github_app' && storage.gitAuthorizations.hasState(one.id, Date.now())) &&
    one.provider === input.provider &&
    one.base_url === input.baseUrl &&
    one.auth === input.auth &&
    one.organization === input.organization
  const same = listConnections(storage).find(isSame)
  if (same) return same
  await ports.actors.spawn('git-connection', input.id, input, { by: request.by })
  return findConnection(storage, input.id)
}

function inputOf({ storage }: GitConnectionPorts, request: AuthorizationRequest): GitConnectionInput {
  const { provider, organization } = request
  if (provider === null) throw invalid('provider', 'is required without connection_id')
  if (organization !== null && !organizationPattern.test(organization)) {
    throw invalid('organization', 'must be 1 to 39 letters, digits and inner dashes')
  }
  const baseUrl = parseBaseUrl(provider, request.baseUrl)
  if (
    provider !== 'github' &&
    !applicationOf(request) &&
    !storage.gitConnections.application(provider, baseUrl)
  ) {
    throw applicationRequired(provider, request.reportDeploys ?? false)
  }
  return {
    id: storage.ids.newId('git'),
    provider,
    baseUrl,
    auth: provider === 'github' ? 'github_app' : 'oauth',
    organization: provider === 'github' ? organization : null,
    clientId: request.clientId ?? storage.gitConnections.application(provider, baseUrl)?.clientId ?? null,
    account: null,
    reportDeploys: request.reportDeploys ?? false,
    at: isoNow(),
  }
}

function applicationRequired(provider: Exclude<ProviderName, 'github'>, reportsDeploys: boolean): Failure {
  const title = providerTitles[provider]
  const how = `register one there with the scopes ${scopesOf(provider, reportsDeploys)} and this redirect URI`
  return new Failure(
    'git_application_required',
    `this server has no OAuth application at ${title}`,
    `${how}, then send its client ID and secret`,
  )
}

function applicationOf({ clientId, clientSecret }: AuthorizationRequest): GitApplication | null {
  if (clientId === null && clientSecret === null) return null
  if (!clientId || !clientSecret) throw invalid('client_id', 'is required together with client_secret')
  return { clientId, clientSecret }
}

function invalid(path: string, problem: string): Failure {
  return new Failure('invalid_request', `${path}: ${problem}`, undefined, [
    { path, code: 'invalid', message: problem },
  ])
}
