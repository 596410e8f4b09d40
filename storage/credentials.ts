// Credentials that were part of a repository URL. They are sealed here, so that the URL can be shown.
import type { Sealer } from './secrets.ts'
import type { Store } from './store/store.ts'

export interface RepositoryCredentials {
  username: string
  password: string
  /** Scheme, host and port. The credentials are never sent to another origin. */
  origin: string
}

export function openCredentials(store: Store, sealer: Sealer) {
  const sealed = store.table<string>('credentials')
  const name = (serviceId: string) => `repository:${serviceId}`

  return {
    get(serviceId: string): RepositoryCredentials | null {
      const row = sealed.get(serviceId)
      return row === null ? null : JSON.parse(sealer.open(row, name(serviceId)))
    },
    /** Only inside a commit; null removes them. */
    put(serviceId: string, credentials: RepositoryCredentials | null): void {
      if (credentials) sealed.put(serviceId, sealer.seal(JSON.stringify(credentials), name(serviceId)))
      else sealed.remove(serviceId)
    },
  }
}

export type Credentials = ReturnType<typeof openCredentials>
