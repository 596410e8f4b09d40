// The administrator: one account, or none before the setup. Stored twice, because sign-in depends on it.
// Only the hash of the password is stored.
import { StorageError } from '../store/errors.ts'
import { openRedundantValue } from '../store/redundant-value.ts'
import type { Commit, Store } from '../store/store.ts'

export interface AccountRow {
  id: string
  email: string
  /** The hash in argon2's format, with its parameters. */
  password_hash: string
  created_at: string
}

export function openAccount(store: Store) {
  const stored = openRedundantValue<AccountRow>(store, 'account', 'account')

  function put(commit: Commit, account: AccountRow): void {
    stored.put(account)
    commit.announce({ kind: 'account', id: account.id, service_id: null, status: null, revision: null })
  }

  return {
    get: (): AccountRow | null => stored.get(),
    /** Only inside a commit. Throws `already_set_up`. */
    create(commit: Commit, account: AccountRow): void {
      if (stored.get()) throw new StorageError('already_set_up', 'this server already has an account')
      put(commit, account)
    },
    /** Only inside a commit. Throws `not_found` before setup. */
    setPassword(commit: Commit, passwordHash: string): void {
      const account = stored.get()
      if (!account) throw new StorageError('not_found', 'this server has no account yet')
      put(commit, { ...account, password_hash: passwordHash })
    },
  }
}
