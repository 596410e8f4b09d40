// The effects of a git connection: its authorization, the renewal of its tokens, and its end.
import type { machine } from '../../../machines/git-connection/git-connection.ts'
import type {
  ExchangeOutput,
  GitAccount,
  GitApp,
} from '../../../machines/git-connection/git-connection-context.ts'
import type { Effects } from '../../../machines/slot.ts'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import type { GitGrant } from '../../../storage/git-authorizations.ts'
import type { GitApplication, GitSecrets } from '../../../storage/git-connections.ts'
import { abortable } from '../../async/abortable.ts'
import { sleep } from '../../async/sleep.ts'
import { codeOf, Failure, RejectedNow } from '../../errors.ts'
import {
  convertManifest,
  findInstallation,
  type GithubApp,
  type Installation,
  readInstallation,
} from '../../git-providers/github-app.ts'
import { exchangeCode, isRefusedGrant, renewTokens } from '../../git-providers/oauth.ts'
import type { Instance } from '../../git-providers/provider.ts'
import { providers } from '../../git-providers/providers.ts'
import { ProviderRejection, toFailureNow } from '../../git-providers/request.ts'
import { awaitExpiry } from '../disk/trash.ts'
import { isoNow } from '../iso-now.ts'
import { appHookUrl } from './hooks.ts'
import { findByAccount, findConnection, instanceOf } from './instance.ts'
import type { AuthorizationPorts, GitConnectionPorts } from './ports.ts'

export function gitConnectionEffects(ports: AuthorizationPorts): Effects<typeof machine> {
  const { gitConnections } = ports.storage
  return {
    awaitExpiry,

    exchangeGrant: ({ id }) => exchangeGrant(ports, id),

    async awaitRenewal({ wakeAt }, signal) {
      return wakeAt === null ? abortable(new Promise(() => {}), signal) : awaitExpiry({ wakeAt }, signal)
    },

    renewTokens: ({ id }) => renew(ports, id),

    async removeSecrets({ id }) {
      await ports.storage.commit(() => {
        gitConnections.removeWithin(id)
        ports.storage.hookRepositories.removeWithin(id)
        ports.storage.gitAuthorizations.removeWithin(id)
      })
    },
  }
}

/**
 * Repeated after a crash, because the provider may not have received the refresh token. If it has, it rejects
 * the token now, and the account must be connected again.
 */
async function renew(ports: GitConnectionPorts, id: string) {
  const { gitConnections } = ports.storage
  const connection = findConnection(ports.storage, id)
  const secrets = gitConnections.secrets(id)
  if (secrets?.kind !== 'oauth' || !secrets.refreshToken) {
    throw new Failure('git_authorization_rejected', 'the provider issued no token for a renewal')
  }
  const { application, refreshToken } = secrets
  try {
    const instance = instanceOf(connection, ports.settings.gitHosts)
    const { scopes: _, ...tokens } = await renewTokens(instance, application, refreshToken)
    await retryCommit(() =>
      ports.storage.commit(() => {
        const current = gitConnections.secrets(id)
        // A new authorization may have replaced the one that was renewed.
        if (current?.kind === 'oauth' && current.refreshToken === refreshToken)
          gitConnections.putSecretsWithin(id, { kind: 'oauth', ...tokens, application })
      }),
    )
    return { accessExpiresAt: tokens.expiresAt }
  } catch (error) {
    if (!(error instanceof ProviderRejection)) throw error
    const code = isRefusedGrant(error) ? 'git_authorization_rejected' : 'git_provider_unavailable'
    throw new Failure(code, error.message)
  }
}

type Connection = RecordOf<'git-connection'>

/** Kept until the actor has stored it too. */
interface Outcome {
  output: ExchangeOutput
  /** For a connection of its own. */
  account: GitAccount | null
}

type Exchanged = Outcome & { secrets: GitSecrets }

interface Authorized {
  account: GitAccount
  secrets: GitSecrets
}

/** Marked before it is sent: a code works once, so after a crash the user must authorize again. */
async function exchangeGrant(ports: AuthorizationPorts, id: string): Promise<ExchangeOutput> {
  const { gitAuthorizations } = ports.storage
  const stored = gitAuthorizations.grant(id)
  if (stored?.outcome) return deliver(ports, id, stored.outcome as Outcome)
  if (!stored?.grant || stored.sentAt !== null) {
    const { auth, app_url: appUrl } = findConnection(ports.storage, id)
    const mayHaveApp = auth === 'github_app' && appUrl === null
    const text = 'the authorization was interrupted'
    const remains = 'GitHub may have registered an app that nothing uses: delete it in your settings there'
    throw new RejectedNow(mayHaveApp ? `${text}; ${remains}` : text, 'authorize the account again')
  }
  await gitAuthorizations.putGrant(id, { ...stored, sentAt: isoNow() })
  const connection = findConnection(ports.storage, id)
  try {
    const { secrets, ...outcome } = await redeemCode(ports, connection, stored.grant, stored.application)
    await retryCommit(() => keep(ports, connection, outcome, secrets))
    return await deliver(ports, id, outcome)
  } catch (error) {
    throw toFailureNow(connection.provider, error)
  }
}

/** With the secrets, so that a crash loses no outcome. A working application serves later accounts too. */
async function keep(
  { storage }: GitConnectionPorts,
  { id, provider, base_url: baseUrl }: Connection,
  outcome: Outcome,
  secrets: GitSecrets,
): Promise<void> {
  const { gitAuthorizations, gitConnections } = storage
  const { at } = outcome.output
  const owner = outcome.output.result === 'merged' ? outcome.output.into : id
  await storage.commit(() => {
    // Secrets of a deleted connection would never be removed.
    if (storage.actors.record(id)?.status === 'deleted') throw deleted()
    gitAuthorizations.putGrantWithin(id, { grant: null, application: null, sentAt: at, outcome })
    gitConnections.putSecretsWithin(owner, secrets)
    if (secrets.kind === 'oauth') gitConnections.putApplicationWithin(provider, baseUrl, secrets.application)
  })
}

function deleted(): Failure {
  return new Failure('conflict', 'the connection was deleted in the meantime')
}

/** Passes the authorization of another account to its own connection. Repeated after a crash. */
async function deliver(
  ports: GitConnectionPorts,
  id: string,
  { output, account }: Outcome,
): Promise<ExchangeOutput> {
  if (output.result !== 'merged' || account === null) return output
  // The connection may be deleted by now; its record stays.
  const connection = ports.storage.actors.record<'git-connection'>(id)!
  const { auth, provider, base_url: baseUrl, client_id: clientId, report_deploys } = connection
  const { at, into, app } = output
  if (ports.storage.actors.record(into) === null) {
    const known = { id: into, provider, baseUrl, auth, organization: null, clientId, account, at }
    const input = { ...known, reportDeploys: report_deploys }
    await ports.actors.spawn('git-connection', into, input)
  }
  await ports.actors.send(into, { type: 'replace', at, by: 'the server', auth, account, app })
  return output
}

async function redeemCode(
  ports: AuthorizationPorts,
  connection: Connection,
  grant: GitGrant,
  pending: GitApplication | null,
): Promise<Exchanged> {
  const instance = instanceOf(connection, ports.settings.gitHosts)
  if (connection.auth !== 'github_app') {
    const { provider, base_url } = connection
    const application = pending ?? ports.storage.gitConnections.application(provider, base_url)
    return settle(ports, connection, await authorizeAccount(application, instance, grant))
  }
  if (connection.app_url === null) return registerApp(ports, connection.id, instance, grant)
  const secrets = ports.storage.gitConnections.secrets(connection.id)
  if (secrets?.kind !== 'app') throw new RejectedNow('the credentials of the app are missing')
  const installation = await readGranted(instance, secrets, grant)
  return settle(ports, connection, { account: accountOf(installation), secrets })
}

/** The code of a registration brings the app. The app may be installed already. */
async function registerApp(
  ports: AuthorizationPorts,
  id: string,
  instance: Instance,
  { code, redirectUri }: GitGrant,
): Promise<Exchanged> {
  if (code === null) throw new RejectedNow('GitHub did not send the code of the new app')
  const { slug, url, owner, ...registered } = await convertManifest(instance, code)
  const hasHook = appHookUrl(ports, id, redirectUri) !== null
  const credentials = { ...registered, webhookSecret: hasHook ? registered.webhookSecret : null }
  const app: GitApp = { slug, url, clientId: credentials.clientId }
  const output: ExchangeOutput = { at: isoNow(), result: 'registered', app, owner }
  return { output, account: null, secrets: { kind: 'app', ...credentials } }
}

async function readGranted(
  instance: Instance,
  app: GithubApp,
  { installationId }: GitGrant,
): Promise<Installation> {
  const installation =
    installationId === null
      ? await findInstallation(instance, app)
      : await readInstallation(instance, app, installationId)
  if (installation === null) throw new RejectedNow('the app is not installed yet')
  if (installation.isSuspended) throw new RejectedNow('the installation of the app is suspended')
  return installation
}

function accountOf({ id, account, manageUrl, selection, scopes }: Installation): GitAccount {
  return {
    login: account,
    name: null,
    scopes,
    manageUrl,
    repositorySelection: selection,
    installationId: id,
    tokenExpiresAt: null,
    tokenHint: null,
    accessExpiresAt: null,
  }
}

async function authorizeAccount(
  application: GitApplication | null,
  instance: Instance,
  { code, redirectUri }: GitGrant,
): Promise<Authorized> {
  if (code === null || application === null) throw new RejectedNow('the provider did not send a code')
  const { scopes, ...tokens } = await exchangeCode(instance, application, { code, redirectUri })
  const { login, name } = await providers[instance.provider].account(instance, tokens.accessToken)
  const account = { ...emptyAccount, login, name, scopes, accessExpiresAt: tokens.expiresAt }
  return { account, secrets: { kind: 'oauth', ...tokens, application } }
}

const emptyAccount = {
  manageUrl: null,
  repositorySelection: null,
  installationId: null,
  tokenExpiresAt: null,
  tokenHint: null,
}

/** An account has one connection, so the authorization of another account goes to its connection. */
function settle(
  ports: GitConnectionPorts,
  connection: Connection,
  { account, secrets }: Authorized,
): Exchanged {
  const at = isoNow()
  const other = findByAccount(ports.storage, connection, account.login)
  const isOwn = other?.id === connection.id || (other === null && isAccountOf(connection, account))
  if (isOwn) return { output: { at, result: 'connected', account }, account: null, secrets }
  const into = other?.id ?? ports.storage.ids.newId('git')
  return { output: { at, result: 'merged', into, app: appOf(connection) }, account, secrets }
}

/** A pending connection takes the account that authorizes it. An account may have been renamed. */
function isAccountOf(connection: Connection, { installationId }: GitAccount): boolean {
  if (connection.status === 'pending') return true
  return installationId !== null && connection.installation_id === installationId
}

function appOf({ app_slug: slug, app_url: url, client_id: clientId }: Connection): GitApp | null {
  return slug && url && clientId ? { slug, url, clientId } : null
}

const pauseMs = 1000

/** Repeats it while the store cannot write, because what a provider issued exists only once. */
async function retryCommit(commit: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await commit()
    } catch (error) {
      if (codeOf(error) !== 'commit_failed') throw error
      await sleep(pauseMs, undefined, { ref: false })
    }
  }
}
