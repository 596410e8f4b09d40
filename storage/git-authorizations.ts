// Authorizations of git accounts that are in progress: the states that a browser takes to a provider,
// and the grants that it brings back. A grant contains a code, so it is sealed; of a state only a
// hash is stored.
import { createHash } from 'node:crypto'
import type { GitApplication } from './git-connections.ts'
import type { Sealer } from './secrets.ts'
import { openSealedTable } from './secrets.ts'
import type { Store, Table } from './store/store.ts'

/** What the provider sent the browser back with. */
export interface GitGrant {
  code: string | null
  installationId: number | null
  redirectUri: string
}

export interface StoredGrant {
  /** Null until the browser is back. */
  grant: GitGrant | null
  /** The OAuth application, if it was given for this authorization. It is kept for others once it works. */
  application: GitApplication | null
  /** When it was sent. A code works only once, so a sent one is never sent again. */
  sentAt: string | null
  /** The result, until the actor has stored it too. */
  outcome: unknown
}

export interface GitState {
  connectionId: string
  redirectUri: string
  /** RFC 3339. */
  expiresAt: string
}

const maxStates = 256

export function openGitAuthorizations(store: Store, sealer: Sealer) {
  const grants = openSealedTable<StoredGrant>(store, sealer, 'git_grants', 'git-grant')
  const states = store.table<GitState>('git_states')

  function removeStates(isRemoved: (state: GitState) => boolean): void {
    for (const { key, value } of [...states.validRows()]) if (isRemoved(value)) states.remove(key)
  }

  return {
    /** The oldest states give way to new ones. */
    putState: (state: string, value: GitState) =>
      store.commit(() => {
        for (const { key } of surplusStates(states)) states.remove(key)
        states.put(hashOf(state), value)
      }),

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
        if (grant !== null) grants.put(id, { grant, application, sentAt: null, outcome: null })
        return stored
      }),

    /** Whether a browser may still come back for the connection. */
    hasState: (connectionId: string, nowMs: number) =>
      [...states.validRows()].some(
        ({ value }) => value.connectionId === connectionId && Date.parse(value.expiresAt) > nowMs,
      ),

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

function surplusStates(states: Table<GitState>) {
  const oldestFirst = [...states.validRows()].sort(byExpiry)
  return oldestFirst.slice(0, Math.max(0, oldestFirst.length - maxStates + 1))
}

function byExpiry({ value: one }: { value: GitState }, { value: other }: { value: GitState }): number {
  return one.expiresAt < other.expiresAt ? -1 : 1
}

function hashOf(state: string): string {
  return createHash('sha256').update(state).digest('hex')
}
