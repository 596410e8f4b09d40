// Which connection serves a repository, and the credentials for reading it.
import { posix } from 'node:path'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import { messageOf } from '../../errors.ts'
import type { AccessSubmodule, SubmoduleAccess } from '../../git/checkout.ts'
import type { Credentials } from '../../git/credentials.ts'
import { listBranches } from '../../git/remote.ts'
import {
  isSameOrigin,
  ownerOf,
  parseRepositoryUrl,
  type RepositoryUrl,
  sshParts,
} from '../../git/repository.ts'
import { providerTitles } from '../../git-providers/base-url.ts'
import { providers } from '../../git-providers/providers.ts'
import { listConnections } from './instance.ts'
import type { GitConnectionPorts } from './ports.ts'
import { readToken, replaceToken } from './tokens.ts'

type Connection = RecordOf<'git-connection'>

export interface RepositoryAccess {
  /** With a token, an ssh address is replaced by the https address of the same repository. */
  repository: RepositoryUrl
  credentials: Credentials | null
  /** The connection that serves the repository; null without one, or if the URL has its own credentials. */
  connection: Connection | null
  /** Why the connection supplied no token, as a sentence; null if it did. */
  problem: string | null
}

export interface AccessRequest {
  /** The connection that was found for the repository before. */
  readWith: string | null
  /** Whether that one is taken without a try. */
  isTrusted: boolean
  signal: AbortSignal
}

/**
 * Never rejects because of a provider: a repository may be public. A repository of another owner, such as a
 * group, is read with a connection that may read it.
 */
export async function accessRepository(
  ports: GitConnectionPorts,
  repository: RepositoryUrl,
  { readWith, isTrusted, signal }: AccessRequest,
): Promise<RepositoryAccess> {
  const access = { repository, credentials: repository.credentials, connection: null, problem: null }
  if (repository.credentials) return access
  const isSsh = repository.kind === 'ssh'
  const serving = findServing(listConnections(ports.storage), repository, readWith)
  let first: RepositoryAccess | null = null
  for (const { connection, url, isOwner } of serving) {
    const one = { ...access, ...(await accessWith(ports, connection, url)) }
    const isOnly = serving.length === 1 && !isSsh
    const isKnown = isTrusted && connection.id === readWith && one.problem === null
    if (isOnly || isOwner || isKnown || (await isReadable(ports, one, signal))) return one
    first ??= one
  }
  // Over ssh, there may be a key for it.
  return isSsh || first === null ? access : first
}

type ConnectionAccess = Pick<RepositoryAccess, 'connection' | 'problem'> & Partial<RepositoryAccess>

async function accessWith(
  ports: GitConnectionPorts,
  connection: Connection,
  url: string,
): Promise<ConnectionAccess> {
  try {
    const repository = parseRepositoryUrl(url)
    const credentials = await readCredentials(ports, connection, repository)
    return { repository, credentials, connection, problem: null }
  } catch (error) {
    return { connection, problem: `${titleOf(connection)} supplied no token: ${messageOf(error)}` }
  }
}

async function isReadable(
  { settings }: GitConnectionPorts,
  { repository, credentials, problem }: RepositoryAccess,
  signal: AbortSignal,
): Promise<boolean> {
  if (problem !== null) return false
  const { gitHosts: hostRules } = settings
  const remote = { repository, credentials, ssh: null, localRepositories: [], hostRules, signal }
  return listBranches({ ...remote, marker: 'access' }).then(
    () => true,
    () => {
      signal.throwIfAborted()
      return false
    },
  )
}

/** The token of an app is for this repository only. Throws like `readToken`. */
async function readCredentials(
  ports: GitConnectionPorts,
  connection: Connection,
  { url }: RepositoryUrl,
): Promise<Credentials> {
  const name = posix.basename(url).replace(/\.git$/, '')
  return credentialsOf(ports, connection, await readToken(ports, connection.id, name))
}

function credentialsOf(ports: GitConnectionPorts, connection: Connection, password: string): Credentials {
  const renew = async () => {
    // The record of the connection says why it has no other token.
    const token = await replaceToken(ports, connection.id, password).catch(() => null)
    return token === null ? null : credentialsOf(ports, connection, token)
  }
  const username = providers[connection.provider].cloneUsername
  return { username, password, connection: { title: titleOf(connection), renew } }
}

/** As in `the GitHub connection of ada`. */
export function titleOf({ provider, account }: Pick<Connection, 'provider' | 'account'>): string {
  return `the ${providerTitles[provider]} connection of ${account}`
}

/** The path of the connection's git provider on its host; empty for most, and without a connection. */
export function basePathOf(connection: Pick<Connection, 'base_url'> | null): string {
  return connection === null ? '' : new URL(connection.base_url).pathname.replace(/\/$/, '')
}

interface Served {
  connection: Connection
  url: string
  isOwner: boolean
}

/** The first one serves: usable ones, then `readWith`, then the owner's, then the one that changed last. */
export function findServing(
  connections: Connection[],
  repository: RepositoryUrl,
  readWith: string | null,
): Served[] {
  const serving = connections.flatMap((connection) => {
    const path = connection.status === 'pending' ? null : pathAt(connection.base_url, repository)
    const owner = path?.split('/')[0]?.toLowerCase()
    const isOwner = owner === connection.account?.toLowerCase()
    // An app is installed on one account and reads nothing of others.
    if (path === null || (connection.auth === 'github_app' && !isOwner)) return []
    return [{ connection, url: `${connection.base_url}/${path}`, isOwner }]
  })
  const rank = ({ connection: { id, base_url, status, updated_at }, isOwner }: Served) => {
    const length = String(base_url.length).padStart(4, '0')
    const facts = [status === 'connected', id === readWith, isOwner].map(Number)
    return [length, ...facts, updated_at].join(' ')
  }
  return serving.sort((one, other) => (rank(one) > rank(other) ? -1 : 1))
}

const publicInstances = [
  { provider: 'github', base_url: 'https://github.com' },
  { provider: 'gitlab', base_url: 'https://gitlab.com' },
  { provider: 'gitea', base_url: 'https://codeberg.org' },
] as const

/** The page that lists the commits after `from` until `to`; null for an unknown provider. */
export function compareUrlAt(
  connections: readonly Pick<Connection, 'provider' | 'base_url'>[],
  repository: RepositoryUrl,
  from: string,
  to: string,
): string | null {
  for (const { provider, base_url } of [...connections, ...publicInstances]) {
    const path = pathAt(base_url, repository)?.replace(/(?:\.git)?\/*$/, '')
    if (path) return `${base_url}/${path}${provider === 'gitlab' ? '/-' : ''}/compare/${from}...${to}`
  }
  return null
}

/** The path of the repository below the base URL; null if the repository is elsewhere. */
function pathAt(baseUrl: string, repository: RepositoryUrl): string | null {
  const { kind, url } = repository
  if (kind === 'http' || kind === 'https') {
    const path = url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length + 1) : null
    // Encoded dots and slashes could lead out of the path of the instance.
    return path === null || /%2e|%2f|%5c/i.test(path) ? null : path
  }
  const ssh = sshParts(repository)
  // Another port may belong to another program of the host.
  if (ssh === null || ssh.user !== 'git' || ssh.port !== '') return null
  const { host, pathname } = new URL(baseUrl)
  return ssh.hostname === host && pathname === '/' ? ssh.path : null
}

interface SubmoduleRules extends Pick<RepositoryAccess, 'repository' | 'credentials' | 'connection'> {
  /** Owners whose repositories may be read too, in lower case. */
  addedOwners: readonly string[]
  /** Called when the app gets no token for a submodule, which is then read without one. */
  onProblem(text: string): void
}

/** Only for its owner and those that the service names: everyone who may push can name any repository. */
export function openSubmoduleAccess(
  ports: GitConnectionPorts,
  { repository, credentials, connection, addedOwners, onProblem }: SubmoduleRules,
): AccessSubmodule {
  const basePath = basePathOf(connection)
  const allowed = [ownerOf(repository, basePath), ...addedOwners]
  const none: SubmoduleAccess = { credentials: null, deniedOwner: null }
  return async (submodule) => {
    const owner = ownerOf(submodule, basePath)
    if (credentials === null || owner === null || !isSameOrigin(submodule, repository)) return none
    const isApp = connection?.auth === 'github_app'
    // An app reads nothing of others.
    if (isApp && owner !== connection.account?.toLowerCase()) return none
    if (!allowed.includes(owner)) return { ...none, deniedOwner: owner }
    if (!isApp) return { ...none, credentials }
    try {
      return { ...none, credentials: await readCredentials(ports, connection, submodule) }
    } catch (error) {
      onProblem(`${submodule.url} is read without a token: ${messageOf(error)}`)
      return none
    }
  }
}
