// Who may ask by showing a secret: rows that are found by the SHA-256 of theirs, and by their id.
// The secret itself is never kept, and a lookup needs it: no list leads to it.
import * as crypto from 'node:crypto'
import type { Commit, Store } from '../store/store.ts'

export interface HashedTokenRow {
  id: string
  created_at: string
  /** Written at most once a minute. */
  last_used_at: string | null
}

/** The table, and the kind of its rows in the change feed. */
export function openHashedTokens<Row extends HashedTokenRow>(
  store: Store,
  name: 'sessions' | 'tokens',
  kind: 'session' | 'token',
) {
  const { erase, put, ...found } = openRows<Row>(store, name)

  function announce(commit: Commit, id: string, status: string | null): void {
    commit.announce({ kind, id, service_id: null, status, revision: null })
  }

  /** Only inside a commit. False when there was none. */
  function removeWithin(commit: Commit, id: string): boolean {
    const isKnown = erase(id)
    if (isKnown) announce(commit, id, 'deleted')
    return isKnown
  }

  return {
    ...found,
    /** Only inside a commit. Replaces a row with the same id. */
    insert(commit: Commit, secret: string, row: Row): void {
      erase(row.id)
      put(hashSecret(secret), row)
      announce(commit, row.id, null)
    },
    removeWithin,
    remove: (id: string): Promise<boolean> => store.commit((commit) => removeWithin(commit, id)),
    /** Deletes the rows for which `isOver` returns true. */
    async removeWhere(isOver: (row: Row) => boolean): Promise<void> {
      const over = found.list().filter(isOver)
      if (over.length > 0)
        await store.commit((commit) => over.forEach(({ id }) => void removeWithin(commit, id)))
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
    /** null for the hash of a secret that is nobody's, and for a row that is damaged. */
    byHash: (hash: string): Row | null => rows.getOrNull(hash),
    bySecret: (secret: string): Row | null => rows.getOrNull(hashSecret(secret)),
    byId,
    /** The newest first. */
    list: (): Row[] =>
      [...hashes.validRows({ reverse: true })].flatMap(({ value: hash }) => rows.getOrNull(hash) ?? []),
    put(hash: string, row: Row): void {
      rows.put(hash, row)
      hashes.put(row.id, hash)
    },
    /** False when there was none. */
    erase(id: string): boolean {
      const hash = hashes.getOrNull(id)
      if (hash !== null) rows.remove(hash)
      hashes.remove(id)
      return hash !== null
    },
    /** Says when it was used; nothing when it is gone meanwhile. */
    touch: (id: string, at: string): Promise<void> =>
      store.commit(() => {
        const row = byId(id)
        if (row) rows.put(hashes.get(id)!, { ...row, last_used_at: at })
      }),
  }
}

/** What is kept of a secret: 256 random bits need no slow hash. In one call: every request needs one. */
export function hashSecret(secret: string): string {
  return crypto.hash('sha256', secret, 'hex')
}

export type HashedTokens<Row extends HashedTokenRow> = ReturnType<typeof openHashedTokens<Row>>
