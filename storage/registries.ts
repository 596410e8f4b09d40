// Credentials of image registries, sealed, one set per host. Effects read them by the host of an image.
// They must not reach a log, an event or an actor. API responses omit only the password.

import type { Sealer } from './secrets.ts'
import { openSealedTable } from './secrets.ts'
import type { Commit, Store } from './store/store.ts'

export interface Registry {
  /** The key: lower case, with the port if there is one. */
  host: string
  username: string
  password: string
  created_at: string
  updated_at: string
}

export function openRegistries(store: Store, sealer: Sealer) {
  const sealed = openSealedTable<Registry>(store, sealer, 'registries', 'registry')

  function announce(commit: Commit, host: string, status: string | null): void {
    commit.announce({ kind: 'registry', id: host, service_id: null, status, revision: null })
  }

  return {
    get: sealed.get,
    list: sealed.list,
    /** `created_at` keeps the time of the host's first credentials. Equal credentials change nothing. */
    put: (host: string, { username, password }: Pick<Registry, 'username' | 'password'>, at: string) =>
      store.commit((commit): Registry => {
        // Not by `get`: damaged credentials are replaced.
        const previous = sealed.list().find((known) => known.host === host)
        if (previous?.username === username && previous.password === password) return previous
        const registry = { host, username, password, created_at: previous?.created_at ?? at, updated_at: at }
        sealed.put(host, registry)
        announce(commit, host, null)
        return registry
      }),
    /** False for an unknown host. */
    remove: (host: string) =>
      store.commit((commit) => {
        const isKnown = sealed.has(host)
        if (isKnown) {
          sealed.remove(host)
          announce(commit, host, 'deleted')
        }
        return isKnown
      }),
  }
}

export type Registries = ReturnType<typeof openRegistries>
