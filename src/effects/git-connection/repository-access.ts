// Which connection serves a repository, and the credentials for reading it.
import type { RecordOf } from '../../../storage/actors/actors.ts'
import { messageOf } from '../../errors.ts'
import type { Credentials } from '../../git/credentials.ts'
import { parseRepositoryUrl, type RepositoryUrl } from '../../git/repository.ts'
import { providers } from '../../git-providers/providers.ts'
import { listConnections } from './instance.ts'
import type { GitConnectionPorts } from './ports.ts'
import type { GitTokens } from './tokens.ts'

type Connection = RecordOf<'git-connection'>

export interface RepositoryAccess {
  /** With a token, an ssh address is replaced by the https address of the same repository. */
  repository: RepositoryUrl
  credentials: Credentials | null
  /** The connection that serves the repository; null without one, or if the URL has its own credentials. */
  connection: Connection | null
  /** Why the connection supplied no token; null if it did. */
  problem: string | null
  /** Whether submodules of other owners on the same host get the credentials. A stranger could name any. */
  sharesCredentials: boolean
}

/** Never rejects because of a provider: a repository may be public. */
export async function accessRepository(
  ports: Pick<GitConnectionPorts, 'storage'> & { gitTokens: Pick<GitTokens, 'get'> },
  repository: RepositoryUrl,
): Promise<RepositoryAccess> {
  const access = {
    repository,
    credentials: repository.credentials,
    connection: null,
    problem: null,
    sharesCredentials: true,
  }
  const served = repository.credentials ? null : findServed(listConnections(ports.storage), repository)
  if (served === null) return access
  const { connection, url, isOwner } = served
  try {
    const password = await ports.gitTokens.get(connection.id)
    const username = providers[connection.provider].cloneUsername
    return {
      ...access,
      repository: parseRepositoryUrl(url),
      credentials: { username, password },
      connection,
      sharesCredentials: isOwner,
    }
  } catch (error) {
    return { ...access, connection, problem: messageOf(error) }
  }
}

interface Served {
  connection: Connection
  /** The address of the repository at the instance of the connection. */
  url: string
  /** Whether the repository belongs to the account. */
  isOwner: boolean
}

/** Usable connections first, then the owner's, then the one that was changed last. */
export function findServed(connections: Connection[], repository: RepositoryUrl): Served | null {
  const serving = connections.flatMap((connection) => {
    const path = connection.status === 'pending' ? null : pathAt(connection.base_url, repository)
    const owner = path?.split('/')[0]?.toLowerCase()
    const isOwner = owner === connection.account?.toLowerCase()
    // An app is installed on one account and reads nothing of others. For others, ssh may have
    // a deploy key.
    const isOwnerOnly = connection.auth === 'github_app' || repository.kind === 'ssh'
    if (path === null || (isOwnerOnly && !isOwner)) return []
    return [{ connection, url: `${connection.base_url}/${path}`, isOwner }]
  })
  const rank = ({ connection: { base_url, status, updated_at }, isOwner }: Served) => {
    const length = String(base_url.length).padStart(4, '0')
    return [length, status === 'connected' ? 1 : 0, isOwner ? 1 : 0, updated_at].join(' ')
  }
  return serving.sort((one, other) => (rank(one) > rank(other) ? -1 : 1))[0] ?? null
}

/** The path of the repository below the base URL; null if the repository is elsewhere. */
function pathAt(baseUrl: string, { kind, url }: RepositoryUrl): string | null {
  if (kind === 'http' || kind === 'https') {
    const path = url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length + 1) : null
    // Encoded dots and slashes could lead out of the path of the instance.
    return path === null || /%2e|%2f|%5c/i.test(path) ? null : path
  }
  const scp = /^git@([^:/]+):\/?(.+)$/.exec(url) ?? /^ssh:\/\/git@([^:/]+)(?::22)?\/(.+)$/.exec(url)
  if (kind !== 'ssh' || scp === null) return null
  // Another port may belong to another program of the host.
  const { host, pathname } = new URL(baseUrl)
  const isSameHost = scp[1]!.toLowerCase() === host && pathname === '/'
  return isSameHost ? scp[2]! : null
}
