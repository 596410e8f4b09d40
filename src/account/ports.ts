// Wires the account: the administrator, sessions, tokens and terminal logins.
import type { Storage } from '../../storage/index.ts'
import { Administrator } from './administrator.ts'
import { createAttempts } from './attempts.ts'
import { createCallers, isExpired, sessionEndMs } from './callers.ts'
import { createPasswords } from './passwords.ts'
import { createTerminalLogins } from './terminal-logins.ts'

export function openAccountPorts(storage: Storage, passwords = createPasswords()) {
  const attempts = createAttempts(storage.attempts)
  return {
    administrator: new Administrator({ storage, attempts, passwords }),
    callers: createCallers(storage),
    terminalLogins: createTerminalLogins(),
  }
}

export type AccountPorts = ReturnType<typeof openAccountPorts>

/** The setup code; null if an account exists. Then a leftover code is removed. */
export function setupCodeFor({ account, setupCode }: Pick<Storage, 'account' | 'setupCode'>): string | null {
  if (!account.get()) return setupCode.ensure()
  setupCode.remove()
  return null
}

export async function removeExpiredCredentials({
  sessions,
  tokens,
}: Pick<Storage, 'sessions' | 'tokens'>): Promise<void> {
  const nowMs = Date.now()
  await sessions.removeWhere((session) => sessionEndMs(session) <= nowMs)
  await tokens.removeWhere((token) => isExpired(token, nowMs))
}
