// Puts the account together: who may come in, who is in, and what waits for a terminal.
import type { Storage } from '../../storage/index.ts'
import { Administrator } from './administrator.ts'
import { createAttempts } from './attempts.ts'
import { type Callers, createCallers, isExpired, sessionEndMs } from './callers.ts'
import { createPasswords } from './passwords.ts'
import { createTerminalLogins, type TerminalLogins } from './terminal-logins.ts'

export interface AccountPorts {
  administrator: Administrator
  callers: Callers
  terminalLogins: TerminalLogins
}

export function openAccountPorts(storage: Storage): AccountPorts {
  const attempts = createAttempts(storage.attempts)
  return {
    administrator: new Administrator({ storage, attempts, passwords: createPasswords() }),
    callers: createCallers(storage),
    terminalLogins: createTerminalLogins(),
  }
}

/** The code for a server without an account; null when there is one, whose leftover code goes. */
export function setupCodeFor({ account, setupCode }: Pick<Storage, 'account' | 'setupCode'>): string | null {
  if (!account.get()) return setupCode.ensure()
  setupCode.remove()
  return null
}

/** Forgets sessions and tokens that are over. */
export async function removeExpiredCredentials({
  sessions,
  tokens,
}: Pick<Storage, 'sessions' | 'tokens'>): Promise<void> {
  const nowMs = Date.now()
  await sessions.removeWhere((session) => sessionEndMs(session) <= nowMs)
  await tokens.removeWhere((token) => isExpired(token, nowMs))
}
