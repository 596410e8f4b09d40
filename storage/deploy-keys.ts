// The ssh keys with which services read their repositories, sealed, one per service, and the keys of hosts
// that they have met. The private half must not reach a log, an event or a response.
import { openSealedTable, type Sealer } from './secrets.ts'
import type { Services } from './services.ts'
import { StorageError } from './store/errors.ts'
import type { Commit, Store } from './store/store.ts'

export interface DeployKey {
  /** One line. */
  publicKey: string
  privateKey: string
  createdAt: string
  hosts: PinnedHost[]
}

export interface PinnedHost {
  /** As in known_hosts: `git.example.com` or `[git.example.com]:2222`. */
  host: string
  /** As in `ssh-ed25519`. */
  type: string
  /** In base64. */
  key: string
  pinnedAt: string
}

export function openDeployKeys(store: Store, sealer: Sealer, services: Services) {
  const sealed = openSealedTable<DeployKey>(store, sealer, 'deploy_keys', 'deploy-key')

  /** Announces the service: what waits for the remedy of a failure looks again. */
  function put(commit: Commit, serviceId: string, key: DeployKey): void {
    sealed.put(serviceId, key)
    services.touch(commit, serviceId)
  }

  return {
    get: sealed.get,
    has: sealed.has,
    /** A former key stays unless it is replaced; pinned hosts stay. Throws `not_found`, `conflict`. */
    put: (serviceId: string, key: Omit<DeployKey, 'hosts'>, { replaces }: { replaces: boolean }) =>
      store.commit((commit) => {
        services.assertNotDeleting(serviceId)
        if (!services.get(serviceId)) throw new StorageError('not_found', `there is no service ${serviceId}`)
        const former = sealed.get(serviceId)
        if (replaces || !former) put(commit, serviceId, { ...key, hosts: former?.hosts ?? [] })
      }),
    /** Only of hosts that are not pinned yet. */
    pin: (serviceId: string, found: PinnedHost[]) =>
      store.commit(() => {
        const key = sealed.get(serviceId)
        if (!key) return
        const added = found.filter(({ host }) => !key.hosts.some((one) => one.host === host))
        if (added.length > 0) sealed.put(serviceId, { ...key, hosts: [...key.hosts, ...added] })
      }),
    /** False without a key. */
    forgetHosts: (serviceId: string) =>
      store.commit((commit) => {
        const key = sealed.get(serviceId)
        if (key) put(commit, serviceId, { ...key, hosts: [] })
        return key !== null
      }),
    /** False without a key. */
    remove: (serviceId: string) =>
      store.commit((commit) => {
        const isThere = sealed.has(serviceId)
        sealed.remove(serviceId)
        if (isThere) services.touch(commit, serviceId)
        return isThere
      }),
    /** Only inside a commit. */
    removeWithin: sealed.remove,
  }
}
