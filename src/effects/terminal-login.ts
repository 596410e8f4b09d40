// The effects of a terminal login: its expiry, the creation of its token, and the revocation of a token that
// is not collected.
import type { Effects } from '../../machines/slot.ts'
import type { machine } from '../../machines/terminal-login.ts'
import type { Storage } from '../../storage/index.ts'
import { createToken, type Grant, tokenIdOf } from '../account/api-tokens.ts'
import type { TerminalLogins } from '../account/terminal-logins.ts'
import { sleep } from '../async/sleep.ts'
import { isoNow } from './iso-now.ts'

export interface TerminalLoginPorts {
  terminalLogins: TerminalLogins
  storage: Pick<Storage, 'commit' | 'tokens'>
}

/** For a login that an earlier version approved before a crash: its token can no longer be collected. */
const noRights: Grant = { role: 'read', services: [], expiresInDays: 1 }

export function terminalLoginEffects(ports: TerminalLoginPorts): Effects<typeof machine> {
  const { storage } = ports
  const { bootId: currentBootId, uncollected } = ports.terminalLogins
  return {
    /** A login from before a restart of the daemon has expired: no terminal can collect its token. */
    async awaitExpiry({ bootId, expiresAt }, signal) {
      const remainingMs = Date.parse(expiresAt) - Date.now()
      if (bootId === currentBootId && remainingMs > 0) await sleep(remainingMs, signal)
    },

    async issueToken({ id, name, grant = noRights }) {
      const at = isoNow()
      const { token } = await createToken(storage, { id: tokenIdOf(id), name, at, grant, terminal: true })
      uncollected.set(id, token)
    },

    async revokeToken({ id }) {
      uncollected.delete(id)
      await storage.tokens.remove(tokenIdOf(id))
    },
  }
}
