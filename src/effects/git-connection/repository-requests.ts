// Requests about one repository at its provider. They take turns: few at a time for a connection, and none
// while the provider limits them.
import { posix } from 'node:path'
import pLimit, { type LimitFunction } from 'p-limit'
import { Failure, RetryLater } from '../../errors.ts'
import type { Instance } from '../../git-providers/provider.ts'
import { ProviderRejection } from '../../git-providers/request.ts'
import { findConnection, instanceOf } from './instance.ts'
import type { GitConnectionPorts } from './ports.ts'
import { useToken } from './tokens.ts'

const maxRequests = 2

interface Line {
  turns: LimitFunction
  limited: { error: RetryLater; untilMs: number } | null
}

const lines = new Map<string, Line>()

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
  const line = lines.get(connectionId) ?? { turns: pLimit(maxRequests), limited: null }
  lines.set(connectionId, line)
  return line.turns(async () => {
    signal.throwIfAborted()
    assertNotLimited(line)
    const instance = instanceOf(findConnection(ports.storage, connectionId), ports.settings.gitHosts)
    const askWith = (token: string) =>
      work(instance, token).catch((error) => Promise.reject(refusalOf(error)))
    try {
      return await useToken(ports, connectionId, askWith, posix.basename(repository))
    } catch (error) {
      if (error instanceof RetryLater)
        line.limited = { error, untilMs: Date.now() + error.retryAfterSeconds * 1000 }
      throw error
    }
  })
}

function assertNotLimited({ limited }: Line): void {
  const leftMs = (limited?.untilMs ?? 0) - Date.now()
  if (leftMs <= 0) return
  const { code, message } = limited!.error
  throw new RetryLater(code, message, Math.ceil(leftMs / 1000))
}

/** A refused token may be renewed; everything else says that the account may not do this. */
function refusalOf(error: unknown): unknown {
  const isRefusal = error instanceof ProviderRejection && error.status !== 401
  return isRefusal ? new Failure('git_authorization_rejected', error.message) : error
}
