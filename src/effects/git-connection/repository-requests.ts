// Requests about one repository at its provider. They take turns: few at a time for a connection, and none
// while the provider limits them.
import { posix } from 'node:path'
import pLimit, { type LimitFunction } from 'p-limit'
import { Failure } from '../../errors.ts'
import type { Instance } from '../../git-providers/provider.ts'
import { ProviderRejection } from '../../git-providers/request.ts'
import { findConnection, instanceOf } from './instance.ts'
import { withinLimit } from './limits.ts'
import type { GitConnectionPorts } from './ports.ts'
import { useToken } from './tokens.ts'

const maxRequests = 2

const turns = new Map<string, LimitFunction>()

export interface RepositoryAtProvider {
  connectionId: string
  /** Its path, as in `ada/shop`. */
  repository: string
}

/** Throws `git_authorization_rejected` for a refusal, else `git_provider_unavailable`, or `RetryLater`. */
export function askAboutRepository<T>(
  ports: GitConnectionPorts,
  { connectionId, repository }: RepositoryAtProvider,
  signal: AbortSignal,
  work: (instance: Instance, token: string) => Promise<T>,
): Promise<T> {
  const own = turns.get(connectionId) ?? pLimit(maxRequests)
  turns.set(connectionId, own)
  return own(() => {
    signal.throwIfAborted()
    const instance = instanceOf(findConnection(ports.storage, connectionId), ports.settings.gitHosts)
    const askWith = (token: string) =>
      work(instance, token).catch((error) => Promise.reject(refusalOf(error)))
    const name = posix.basename(repository)
    return withinLimit(connectionId, () => useToken(ports, connectionId, askWith, name))
  })
}

/** A refused token may be renewed; everything else says that the account may not do this. */
function refusalOf(error: unknown): unknown {
  const isRefusal = error instanceof ProviderRejection && error.status !== 401
  return isRefusal ? new Failure('git_authorization_rejected', error.message) : error
}
