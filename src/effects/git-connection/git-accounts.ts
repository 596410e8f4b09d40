// Connected accounts, for the API: connecting one with a token, and reading repositories and branches.
import type { GitAccount, GitProvider } from '../../../machines/git-connection/git-connection-context.ts'
import type { By } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { KeyedMutex } from '../../async/keyed-mutex.ts'
import { Failure } from '../../errors.ts'
import { listBranches } from '../../git/remote.ts'
import { parseRepositoryUrl } from '../../git/repository.ts'
import { parseBaseUrl } from '../../git-providers/base-url.ts'
import { installationRepositories } from '../../git-providers/github.ts'
import type { RepositoryList } from '../../git-providers/provider.ts'
import { providers } from '../../git-providers/providers.ts'
import { toTokenFailure } from '../../git-providers/request.ts'
import { isoNow } from '../iso-now.ts'
import {
  type AuthorizationRequest,
  type AuthorizationStep,
  authorize,
  type CallbackRequest,
  completeAuthorization,
} from './authorization.ts'
import { hookSecretOf, type ReceivedDelivery, receiveDelivery, type SentDelivery } from './hooks.ts'
import { findByAccount, findConnection, instanceOf, listConnections } from './instance.ts'
import type { AuthorizationPorts, GitConnectionPorts } from './ports.ts'
import { accessRepository, compareUrlAt } from './repository-access.ts'
import { servingOf } from './service-access.ts'
import { useToken } from './tokens.ts'

export interface TokenRequest {
  provider: GitProvider
  baseUrl: string | null
  token: string
  /** Null keeps what a known connection does. */
  reportDeploys: boolean | null
  by: By
  eventId: string | undefined
}

export interface RemoteBranches {
  /** The default branch first, the others by name. */
  branches: string[]
  connectionId: string | null
  defaultBranch: string | null
}

interface GitAccountsPorts extends AuthorizationPorts {
  settings: GitConnectionPorts['settings'] & { localRepositories: string[] }
}

export interface GitAccounts {
  authorize(request: AuthorizationRequest): Promise<AuthorizationStep>
  completeAuthorization(request: CallbackRequest): Promise<AuthorizationStep>
  connectToken(request: TokenRequest): Promise<{ id: string; isNew: boolean }>
  repositories(id: string): Promise<RepositoryList>
  branches(repoUrl: string): Promise<RemoteBranches>
  /** The page with the commits between two; null for a repository of an unknown provider. */
  compareUrl(repoUrl: string, from: string, to: string): string | null
  /** The connection that clones the repository of the service; null without one. */
  servingId(service: Pick<ServiceRow, 'id' | 'read_with' | 'repo_url' | 'use_git_connection'>): string | null
  receive(sent: SentDelivery): Promise<ReceivedDelivery>
  /** The secret of the webhook of a connection, and whether its app is registered with it. */
  hookSecret(id: string): { secret: string; isRegistered: boolean }
}

export function openGitAccounts(ports: GitAccountsPorts): GitAccounts {
  return {
    authorize: (request) => authorize(ports, request),
    completeAuthorization: (request) => completeAuthorization(ports, request),
    connectToken: (request) => connectToken(ports, request),
    repositories: (id) => listRepositories(ports, id),
    branches: (repoUrl) => readBranches(ports, repoUrl),
    compareUrl: (repoUrl, from, to) =>
      compareUrlAt(listConnections(ports.storage), parseRepositoryUrl(repoUrl), from, to),
    servingId: (service) => servingIdOf(ports.storage, service),
    receive: (sent) => receiveDelivery(ports.storage, sent),
    hookSecret: (id) => hookSecretOf(ports.storage, id),
  }
}

/** A deploy key comes first: a service that has one uses no connection to read its repository. */
function servingIdOf(storage: Storage, service: Parameters<GitAccounts['servingId']>[0]): string | null {
  const { id, repo_url: url } = service
  const isSsh = url !== null && parseRepositoryUrl(url).kind === 'ssh'
  if (isSsh && storage.deployKeys.has(id)) return null
  return servingOf(storage, service, url)?.connection.id ?? null
}

/** Parallel requests for one account must not create two connections. */
const accountTurns = new KeyedMutex()

async function connectToken(ports: GitAccountsPorts, request: TokenRequest) {
  const { provider, token } = request
  const baseUrl = parseBaseUrl(provider, request.baseUrl)
  const account = await readAccount(ports, { provider, baseUrl }, token)
  const key = [provider, baseUrl, account.login.toLowerCase()].join(' ')
  return accountTurns.run(key, new AbortController().signal, () =>
    storeToken(ports, request, { baseUrl, account }),
  )
}

/** An account that is connected already keeps its connection and gets the new token. */
async function storeToken(
  { storage, actors }: GitAccountsPorts,
  { provider, token, reportDeploys, by, eventId }: TokenRequest,
  { baseUrl, account }: { baseUrl: string; account: GitAccount },
) {
  const at = isoNow()
  const known = findByAccount(storage, { provider, base_url: baseUrl }, account.login)
  const options = { by, ...(eventId === undefined ? {} : { eventId }) }
  const secrets = { kind: 'token' as const, token }
  if (known) {
    await storage.gitConnections.putSecrets(known.id, secrets)
    const replacement = { auth: 'token', account, app: null }
    const event = { type: 'replace', at, by: 'the administrator', asker: by, ...replacement }
    const { applied } = await actors.send(known.id, event, options)
    if (applied && reportDeploys !== null)
      await actors.send(known.id, { type: 'reports.set', at, by: event.by, asker: by, reportDeploys })
    if (applied) return { id: known.id, isNew: false }
  }
  const id = storage.ids.newId('git')
  const auth = 'token' as const
  const about = { id, provider, baseUrl, auth, organization: null, clientId: null, account, at }
  const input = { ...about, reportDeploys: reportDeploys ?? false }
  const also = () => storage.gitConnections.putSecretsWithin(id, secrets)
  await actors.spawn('git-connection', id, input, { ...options, also })
  return { id, isNew: true }
}

async function readAccount(
  { settings }: GitAccountsPorts,
  { provider, baseUrl }: { provider: GitProvider; baseUrl: string },
  token: string,
): Promise<GitAccount> {
  try {
    const instance = { provider, baseUrl, hostRules: settings.gitHosts }
    const { login, name, scopes, tokenExpiresAt } = await providers[provider].account(instance, token)
    return {
      login,
      name,
      scopes,
      tokenExpiresAt,
      tokenHint: hintOf(token),
      manageUrl: null,
      repositorySelection: null,
      installationId: null,
      accessExpiresAt: null,
    }
  } catch (error) {
    throw toTokenFailure(provider, error)
  }
}

/** At most four characters, and never more than a third of the token. */
function hintOf(token: string): string {
  const length = Math.min(4, Math.floor(token.length / 3))
  return length === 0 ? '' : token.slice(-length)
}

async function listRepositories(ports: GitAccountsPorts, id: string): Promise<RepositoryList> {
  const connection = findConnection(ports.storage, id)
  const instance = instanceOf(connection, ports.settings.gitHosts)
  return useToken(ports, id, async (token) => {
    if (connection.auth === 'github_app') return installationRepositories(instance, token)
    return providers[connection.provider].repositories(instance, token)
  })
}

async function readBranches(ports: GitAccountsPorts, repoUrl: string): Promise<RemoteBranches> {
  const { signal } = new AbortController()
  const wanted = parseRepositoryUrl(repoUrl)
  const request = { readWith: null, isTrusted: false, signal }
  const { repository, credentials, connection, problem } = await accessRepository(ports, wanted, request)
  const remote = {
    repository: { ...repository, credentials: null },
    credentials,
    problem,
    ssh: null,
    localRepositories: ports.settings.localRepositories,
    hostRules: ports.settings.gitHosts,
    marker: 'branches',
    signal,
  }
  const { branches, defaultBranch } = await listBranches(remote).catch((error: unknown) => {
    throw toBranchesFailure(error)
  })
  return {
    branches: branches.map(({ name }) => name),
    connectionId: problem === null ? (connection?.id ?? null) : null,
    defaultBranch,
  }
}

/** Codes of deploys have no status in the API: a refused host is a bad request, a private path a refusal. */
function toBranchesFailure(error: unknown): unknown {
  if (!(error instanceof Failure)) return error
  const codes: Record<string, string> = {
    source_invalid: 'invalid_request',
    repository_private: 'git_remote_unreachable',
  }
  return new Failure(codes[error.code] ?? error.code, error.message, error.hint)
}
