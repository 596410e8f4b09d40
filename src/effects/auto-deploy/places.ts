// How many sources are read at a time: after a start all services are, and a host that does not respond must
// not keep those of the others waiting. Services of one repository are read together.
import pLimit, { type LimitFunction } from 'p-limit'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { abortable } from '../../async/abortable.ts'
import { parseImageReference } from '../../docker/images/image-reference.ts'
import { parseRepositoryUrl } from '../../git/repository.ts'
import { servingOf } from '../git-connection/service-access.ts'

interface Wish {
  /** Work with the same key that waits for a place is done once for all; null if it is for one service. */
  key: string | null
  signal: AbortSignal
}

/**
 * Runs the work when the host of the service's source, and the server, have a place for it. What has begun is
 * not shared: it may be older than a push.
 */
export type Places = <T>(service: ServiceRow, wish: Wish, work: () => Promise<T>) => Promise<T>

type Outcome = { value: unknown } | { error: unknown; wasEnded: boolean }

const placesPerHost = 2
const allPlaces = 8

export function openPlaces(): Places {
  const all = pLimit(allPlaces)
  const hosts = new Map<string, LimitFunction>()
  const waiting = new Map<string, Promise<Outcome>>()

  async function inTurn<T>(service: ServiceRow, work: () => Promise<T>): Promise<T> {
    const host = hostOf(service)
    const own = hosts.get(host) ?? pLimit(placesPerHost)
    hosts.set(host, own)
    try {
      return await own(() => all(work))
    } finally {
      if (own.activeCount + own.pendingCount === 0) hosts.delete(host)
    }
  }

  const places: Places = async <T>(service: ServiceRow, wish: Wish, work: () => Promise<T>): Promise<T> => {
    const { key, signal } = wish
    if (key === null) return inTurn(service, work)
    const shared = waiting.get(key)
    if (shared !== undefined) {
      const outcome = await abortable(shared, signal)
      if ('value' in outcome) return outcome.value as T
      if (outcome.wasEnded) return places(service, wish, work)
      throw outcome.error
    }
    const own = inTurn(service, () => {
      waiting.delete(key)
      return work()
    })
    const toOutcome = (error: unknown) => ({ error, wasEnded: signal.aborted })
    waiting.set(
      key,
      own.then((value) => ({ value }), toOutcome),
    )
    return own
  }
  return places
}

/** The same for services that read the same with the same credentials; null if that is not certain. */
export function sharedKey(storage: Storage, service: ServiceRow, ...what: (string | null)[]): string | null {
  const { id, image, repo_url, use_git_connection = true } = service
  if (image !== null) return JSON.stringify([image])
  const isOwn = parseRepositoryUrl(repo_url!).kind === 'ssh' || storage.credentials.get(id) !== null
  const serving = servingOf(storage, service, repo_url)
  if (isOwn || serving?.isCertain === false) return null
  return JSON.stringify([repo_url, use_git_connection, serving?.connection.id, ...what])
}

/** Empty for a path of this host. */
function hostOf({ image, repo_url: repository }: ServiceRow): string {
  if (image !== null) return parseImageReference(image).host
  return repository === null ? '' : (parseRepositoryUrl(repository).host ?? '')
}
