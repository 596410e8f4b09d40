// Prefixes of the cache mount ids, one per service. Random, so that no other service's Dockerfile
// can name them.
import { randomBytes } from 'node:crypto'
import type { Store } from './store/store.ts'

export function openBuildCaches(store: Store) {
  const prefixes = store.table<string>('build_caches')

  /** Empties the service's cache mounts: the next build gets new ones. */
  async function renew(serviceId: string): Promise<string> {
    const prefix = `${randomBytes(16).toString('hex')}-`
    await store.commit(() => prefixes.put(serviceId, prefix))
    return prefix
  }

  return {
    renew,
    prefixOf: async (serviceId: string) => prefixes.getOrNull(serviceId) ?? renew(serviceId),
    /** Only inside a commit. */
    remove: (serviceId: string) => prefixes.remove(serviceId),
  }
}
