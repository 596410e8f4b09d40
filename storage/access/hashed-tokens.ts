// Bearer secrets (sessions and API tokens): rows found by the SHA-256 of the secret, or by id.
// The secret itself is never stored.
import * as crypto from 'node:crypto'
import type { Commit, Store } from '../store/store.ts'

interface HashedTokenRow {
  id: string
  created_at: string
  /** Written at most once a minute. */
  last_used_at: string | null
}

function openHashedTokens<Row extends HashedTokenRow>(
  store: Store,
  name: 'sessions' | 'tokens',
  kind: 'session' | 'token',
) {
  const { deleteRow, put, ...reads } = openRows<Row>(store, name)

  function announce(commit: Commit, id: string, status: string | null): void {
    commit.announce({ kind, id, service_id: null, status, revision: null })
  }

  /** Only inside a commit. False for an unknown id. */
  function removeWithin(commit: Commit, id: string): boolean {
    const isKnown = deleteRow(id)
    if (isKnown) announce(commit, id, 'deleted')
    return isKnown
  }

  return {
    ...reads,
    /** Only inside a commit. Replaces a row with the same id. */
    insert(commit: Commit, secret: string, row: Row): void {
      deleteRow(row.id)
      put(hashSecret(secret), row)
      announce(commit, row.id, null)
    },
    removeWithin,
    remove: (id: string): Promise<boolean> => store.commit((commit) => removeWithin(commit, id)),
    async removeWhere(isRemoved: (row: Row) => boolean): Promise<void> {
      const removed = reads.list().filter(isRemoved)
      if (removed.length > 0)
        await store.commit((commit) => removed.forEach(({ id }) => void removeWithin(commit, id)))
    },
  }
}

/** The methods that write work only inside a commit. */
function openRows<Row extends HashedTokenRow>(store: Store, name: string) {
  const rows = store.table<Row>(name)
  const hashes = store.table<string>(`${name}_by_id`)

  function byId(id: string): Row | null {
    const hash = hashes.getOrNull(id)
    return hash === null ? null : rows.getOrNull(hash)
  }

  return {
    /** Null for an unknown hash and for a damaged row. */
    byHash: (hash: string): Row | null => rows.getOrNull(hash),
    bySecret: (secret: string): Row | null => rows.getOrNull(hashSecret(secret)),
    byId,
    list: (): Row[] =>
      [...hashes.validRows({ reverse: true })].flatMap(({ value: hash }) => rows.getOrNull(hash) ?? []),
    put(hash: string, row: Row): void {
      rows.put(hash, row)
      hashes.put(row.id, hash)
    },
    deleteRow(id: string): boolean {
      const hash = hashes.getOrNull(id)
      if (hash !== null) rows.remove(hash)
      hashes.remove(id)
      return hash !== null
    },
    /** Records the time of use. No effect when the row was deleted. */
    touch: (id: string, at: string): Promise<void> =>
      store.commit(() => {
        const row = byId(id)
        if (row) rows.put(hashes.get(id)!, { ...row, last_used_at: at })
      }),
  }
}

/** 256 random bits need no slow hash. `crypto.hash` is a single call, because every request needs a hash. */
export function hashSecret(secret: string): string {
  return crypto.hash('sha256', secret, 'hex')
}

type HashedTokens<Row extends HashedTokenRow> = ReturnType<typeof openHashedTokens<Row>>

export interface SessionRow extends HashedTokenRow {
  last_used_at: string
  /** Null when the browser sent no such header. */
  user_agent: string | null
}

type Sessions = HashedTokens<SessionRow>

export const openSessions = (store: Store): Sessions =>
  openHashedTokens<SessionRow>(store, 'sessions', 'session')

export type TokenRole = 'read' | 'deploy' | 'admin'

export interface TokenRow extends HashedTokenRow {
  name: string
  role: TokenRole
  /** Ids of the services that the token is limited to; null without a limit. */
  services: string[] | null
  /** The last four characters of the token. */
  hint: string
  expires_at: string | null
  /** Created by a terminal login. Missing in rows older than the field. */
  terminal?: true
}

type Tokens = HashedTokens<TokenRow>

export const openTokens = (store: Store): Tokens => openHashedTokens<TokenRow>(store, 'tokens', 'token')
