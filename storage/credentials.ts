// Credentials that were part of a repository URL. They are sealed here, so that the URL can be shown.
import { openSealedTable } from './sealed-table.ts'
import type { Sealer } from './secrets.ts'
import type { Store } from './store/store.ts'

export interface RepositoryCredentials {
  username: string
  password: string
  /** Scheme, host and port. The credentials are never sent to another origin. */
  origin: string
}

export function openCredentials(store: Store, sealer: Sealer) {
  const sealed = openSealedTable<RepositoryCredentials>(store, sealer, 'credentials', 'repository')

  return {
    get: sealed.get,
    /** Only inside a commit; null removes them. */
    put(serviceId: string, credentials: RepositoryCredentials | null): void {
      if (credentials) sealed.put(serviceId, credentials)
      else sealed.remove(serviceId)
    },
  }
}

export type Credentials = ReturnType<typeof openCredentials>
