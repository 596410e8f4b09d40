// Opens only the account data, for commands on the server itself. Works with and without a running daemon.
// Takes no lock and migrates nothing. A running daemon sees the writes at its next read.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Audit } from '../audit.ts'
import { StorageError } from '../store/errors.ts'
import { requireCurrentSchema } from '../store/migrations.ts'
import { openStore } from '../store/store.ts'
import { openAccount } from './account.ts'
import { openAttempts } from './attempts.ts'
import { openSessions, openTokens } from './hashed-tokens.ts'

/** Throws `not_found` for a folder that is not a data directory, `store_other_version` for another schema. */
export function openAccountAccess(directory: string, options: { onPanic: (reason: string) => void }) {
  if (!existsSync(join(directory, 'store', 'data.mdb'))) {
    throw new StorageError('not_found', `${directory} is not the data directory of a Berth server`)
  }
  const store = openStore(directory, options)
  requireCurrentSchema(store)
  return {
    account: openAccount(store),
    audit: new Audit(store),
    attempts: openAttempts(store),
    sessions: openSessions(store),
    tokens: openTokens(store),
    commit: store.commit,
    close: store.close,
  }
}
