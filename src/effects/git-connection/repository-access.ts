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
}

/** Never rejects because of a provider: a repository may be public. */
export async function accessRepository(
  ports: Pick<GitConnectionPorts, 'storage'> & { gitTokens: Pick<GitTokens, 'get'> },
  repository: RepositoryUrl,
): Promise<RepositoryAccess> {
  const access = { repository, credentials: repository.credentials, connection: null, problem: null }
  const served = repository.credentials ? null : findServed(listConnections(ports.storage), repository)
  if (served === null) return access
  const { connection, url } = served
  try {
    const password = await ports.gitTokens.get(connection.id)
    const username = providers[connection.provider].cloneUsername
    return { ...access, repository: parseRepositoryUrl(url), credentials: { username, password }, connection }
  } catch (error) {
    return { ...access, connection, problem: messageOf(error) }
  }
}

interface Served {
  connection: Connection
  /** The address of the repository at the instance of the connection. */
  url: string
}

/** Usable connections first, then the owner's, then the one that was changed last. */
export function findServed(connections: Connection[], repository: RepositoryUrl): Served | null {
  const serving = connections.flatMap((connection) => {
    const path = connection.status === 'pending' ? null : pathAt(connection.base_url, repository)
    const owner = path?.split('/')[0]?.toLowerCase()
    const isOwner = owner === connection.account?.toLowerCase()
    // An app is installed on one account and reads nothing of others.
    if (path === null || (connection.auth === 'github_app' && !isOwner)) return []
    return [{ connection, url: `${connection.base_url}/${path}`, isOwner }]
  })
  const rank = ({ connection, isOwner }: (typeof serving)[number]) =>
    [connection.status === 'connected' ? 1 : 0, isOwner ? 1 : 0, connection.updated_at].join(' ')
  return serving.sort((one, other) => (rank(one) > rank(other) ? -1 : 1))[0] ?? null
}

/** The path of the repository below the base URL; null if the repository is elsewhere. */
function pathAt(baseUrl: string, { kind, url }: RepositoryUrl): string | null {
  if (kind === 'http' || kind === 'https') {
    return url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length + 1) : null
  }
  const scp = /^git@([^:/]+):\/?(.+)$/.exec(url) ?? /^ssh:\/\/git@([^:/]+)(?::22)?\/(.+)$/.exec(url)
  if (kind !== 'ssh' || scp === null) return null
  const { hostname, pathname } = new URL(baseUrl)
  const isSameHost = scp[1]!.toLowerCase() === hostname && pathname === '/'
  return isSameHost ? scp[2]! : null
}
