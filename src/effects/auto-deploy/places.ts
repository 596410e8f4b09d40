// How many sources are read at a time: after a start all services are, and a host that does not respond must
// not keep those of the others waiting.
import pLimit, { type LimitFunction } from 'p-limit'
import type { ServiceRow } from '../../../storage/services.ts'
import { parseImageReference } from '../../docker/images/image-reference.ts'
import { parseRepositoryUrl } from '../../git/repository.ts'

/** Runs the work when the host of the service's source, and the server, have a place for it. */
export type Places = <T>(service: ServiceRow, work: () => Promise<T>) => Promise<T>

const placesPerHost = 2
const allPlaces = 8

export function openPlaces(): Places {
  const all = pLimit(allPlaces)
  const hosts = new Map<string, LimitFunction>()
  return async (service, work) => {
    const host = hostOf(service)
    const own = hosts.get(host) ?? pLimit(placesPerHost)
    hosts.set(host, own)
    try {
      return await own(() => all(work))
    } finally {
      if (own.activeCount + own.pendingCount === 0) hosts.delete(host)
    }
  }
}

/** Empty for a path of this host. */
function hostOf({ image, repo_url: repository }: ServiceRow): string {
  if (image !== null) return parseImageReference(image).host
  return repository === null ? '' : (parseRepositoryUrl(repository).host ?? '')
}
