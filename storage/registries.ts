// Credentials of image registries, sealed, one set per host. Effects read them by the host of an image.
// They must not reach a log, an event or an actor. API responses omit only the password.
import type { Sealer } from './secrets.ts'
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
  const sealed = store.table<string>('registries')
  const name = (host: string) => `registry:${host}`
  const open = (host: string, row: string): Registry => JSON.parse(sealer.open(row, name(host)))

  function get(host: string): Registry | null {
    const row = sealed.get(host)
    return row === null ? null : open(host, row)
  }

  function announce(commit: Commit, host: string, status: string | null): void {
    commit.announce({ kind: 'registry', id: host, service_id: null, status, revision: null })
  }

  return {
    get,
    list: (): Registry[] => [...sealed.validRows()].map(({ key, value }) => open(String(key), value)),
    /**
     * Resolves with the stored row. `created_at` keeps the time of the host's first credentials. Equal
     * credentials change nothing.
     */
    put: (host: string, { username, password }: Pick<Registry, 'username' | 'password'>, at: string) =>
      store.commit((commit): Registry => {
        const row = sealed.getOrNull(host)
        const previous = row === null ? null : open(host, row)
        if (previous?.username === username && previous.password === password) return previous
        const registry = { host, username, password, created_at: previous?.created_at ?? at, updated_at: at }
        sealed.put(host, sealer.seal(JSON.stringify(registry), name(host)))
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
