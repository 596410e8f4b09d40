// Authorizations of git accounts that are in progress: the states that a browser takes to a provider,
// and the grants that it brings back. A grant contains a code, so it is sealed; of a state only a
// hash is stored.
import { createHash } from 'node:crypto'
import type { GitApplication } from './git-connections.ts'
import type { Sealer } from './secrets.ts'
import { openSealedTable } from './secrets.ts'
import type { Store } from './store/store.ts'

/** What the provider sent the browser back with. */
export interface GitGrant {
  code: string | null
  installationId: number | null
  redirectUri: string
}

export interface StoredGrant {
  /** Null until the browser is back, and once it was sent. */
  grant: GitGrant | null
  /** The OAuth application, if it was given for this authorization. It is kept for others once it works. */
  application: GitApplication | null
}

export interface GitState {
  connectionId: string
  redirectUri: string
  /** RFC 3339. */
  expiresAt: string
}

export function openGitAuthorizations(store: Store, sealer: Sealer) {
  const grants = openSealedTable<StoredGrant>(store, sealer, 'git_grants', 'git-grant')
  const states = store.table<GitState>('git_states')

  function removeStates(isRemoved: (state: GitState) => boolean): void {
    for (const { key, value } of [...states.validRows()]) if (isRemoved(value)) states.remove(key)
  }

  return {
    putState: (state: string, value: GitState) => store.commit(() => states.put(hashOf(state), value)),

    /**
     * Uses the state up and stores what came with it, in one transaction. Null for an unknown, used or
     * expired state. `toGrant` returns null if there is nothing to exchange.
     */
    useState: (state: string, nowMs: number, toGrant: (state: GitState) => GitGrant | null) =>
      store.commit((): GitState | null => {
        const stored = states.getOrNull(hashOf(state))
        if (stored === null) return null
        states.remove(hashOf(state))
        if (Date.parse(stored.expiresAt) <= nowMs) return null
        const [grant, id] = [toGrant(stored), stored.connectionId]
        const application = grants.get(id)?.application ?? null
        if (grant !== null) grants.put(id, { grant, application })
        return stored
      }),

    grant: (connectionId: string) => grants.get(connectionId),
    putGrant: (connectionId: string, value: StoredGrant) =>
      store.commit(() => grants.put(connectionId, value)),
    putGrantWithin: grants.put,
    /** Only inside a commit. Ends all authorizations of a connection. */
    removeWithin(connectionId: string): void {
      grants.remove(connectionId)
      removeStates((state) => state.connectionId === connectionId)
    },
    async forgetExpired(nowMs: number): Promise<void> {
      const isExpired = ({ expiresAt }: GitState) => Date.parse(expiresAt) <= nowMs
      const rows = [...states.validRows()]
      if (rows.some(({ value }) => isExpired(value))) await store.commit(() => removeStates(isExpired))
    },
  }
}

function hashOf(state: string): string {
  return createHash('sha256').update(state).digest('hex')
}
