// Who may ask by showing a secret: rows that are found by the SHA-256 of theirs, and by their id.
// Mind: the secret itself is never kept, and a lookup needs it: no list leads to it.
import * as crypto from 'node:crypto'
import type { Store } from './store.ts'

export interface BearerRow {
  id: string
  created_at: string
  /** Written at most once a minute. */
  last_used_at: string | null
}

/** The rows of one sort, such as `sessions`. */
export function openBearers<Row extends BearerRow>(store: Store, name: string) {
  const rows = store.table<Row>(name)
  const hashes = store.table<string>(`${name}_by_id`)

  function byId(id: string): Row | null {
    const hash = hashes.peek(id)
    return hash === null ? null : rows.peek(hash)
  }

  /** The newest first. */
  function list(): Row[] {
    return [...hashes.sound({ reverse: true })].flatMap(({ value: hash }) => rows.peek(hash) ?? [])
  }

  /** Only inside a commit. False when there was none. */
  function drop(id: string): boolean {
    const hash = hashes.peek(id)
    if (hash !== null) rows.remove(hash)
    hashes.remove(id)
    return hash !== null
  }

  return {
    /** null for the hash of a secret that is nobody's, and for a row that is damaged. */
    byHash: (hash: string): Row | null => rows.peek(hash),
    bySecret: (secret: string): Row | null => rows.peek(hashSecret(secret)),
    byId,
    list,
    /** Only inside a commit. Takes the place of one with the same id. */
    insert(secret: string, row: Row): void {
      const hash = hashSecret(secret)
      drop(row.id)
      rows.put(hash, row)
      hashes.put(row.id, hash)
    },
    drop,
    remove: (id: string): Promise<boolean> => store.commit(() => drop(id)),
    /** Says when it was used; nothing when it is gone meanwhile. */
    touch: (id: string, at: string): Promise<void> =>
      store.commit(() => {
        const row = byId(id)
        if (row) rows.put(hashes.get(id)!, { ...row, last_used_at: at })
      }),
    /** Forgets those that `isOver` says are over. */
    async forget(isOver: (row: Row) => boolean): Promise<void> {
      const over = list().filter(isOver)
      if (over.length > 0) await store.commit(() => over.forEach(({ id }) => void drop(id)))
    },
  }
}

/** What is kept of a secret: 256 random bits need no slow hash. In one call: every request needs one. */
export function hashSecret(secret: string): string {
  return crypto.hash('sha256', secret, 'hex')
}

export type Bearers<Row extends BearerRow> = ReturnType<typeof openBearers<Row>>
