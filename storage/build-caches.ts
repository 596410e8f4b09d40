// Namespaces of the cache mounts of builds, one per service. Random, so that no other service's Dockerfile
// can name them.
import { randomBytes } from 'node:crypto'
import type { Store } from './store/store.ts'

export function openBuildCaches(store: Store) {
  const namespaces = store.table<string>('build_caches')

  /** Empties the service's cache mounts: the next build gets new ones. */
  async function renew(serviceId: string): Promise<string> {
    const namespace = randomBytes(16).toString('hex')
    await store.commit(() => namespaces.put(serviceId, namespace))
    return namespace
  }

  return {
    renew,
    namespaceOf: async (serviceId: string) => namespaces.get(serviceId) ?? renew(serviceId),
    /** Only inside a commit. */
    remove: (serviceId: string) => namespaces.remove(serviceId),
  }
}
