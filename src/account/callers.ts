// The caller that the credential of a request belongs to. Synchronous: a hash and a read from the store, so a
// GET does not wait. Nothing is cached in memory, so a revoked credential is invalid immediately.
import type { SessionRow, TokenRole } from '../../storage/access/hashed-tokens.ts'
import type { Storage } from '../../storage/index.ts'
import { hashOf } from './secrets.ts'

/** `id` identifies a caller and is not a secret. */
export interface Caller {
  kind: 'session' | 'token'
  id: string
  /** A session has the rights of an admin token. */
  role: TokenRole
  /** Ids of the services that the token is limited to; null without a limit. */
  services: readonly string[] | null
}

export type CallerId = Pick<Caller, 'id' | 'kind'>

export const sessionLifetimeMs = 30 * 24 * 60 * 60 * 1000
const useRecordIntervalMs = 60_000
/** The caller with the server token, which is a file instead of a row. */
export const serverCaller: Caller = { kind: 'token', id: 'server', role: 'admin', services: null }

export function createCallers(
  storage: Pick<Storage, 'serverToken' | 'sessions' | 'tokens'>,
  now: () => number = Date.now,
) {
  const { sessions, tokens } = storage
  const serverHash = hashOf(storage.serverToken)
  const noting = new Set<string>()

  /** Not awaited: the caller does not need it, and a full disk must not sign users out. */
  function recordUse(rows: typeof sessions | typeof tokens, id: string, last: string | null): void {
    if (noting.has(id) || (last !== null && now() - Date.parse(last) < useRecordIntervalMs)) return
    noting.add(id)
    const noted = rows.touch(id, new Date(now()).toISOString())
    noted.catch(() => undefined).finally(() => noting.delete(id))
  }

  /** Null for an unknown, revoked or expired token. */
  function byToken(secret: string): Caller | null {
    if (secret === '') return null
    const hash = hashOf(secret)
    if (hash === serverHash) return serverCaller
    const token = tokens.byHash(hash)
    if (!token || isExpired(token, now())) return null
    recordUse(tokens, token.id, token.last_used_at)
    const { id, role, services } = token
    return { kind: 'token', id, role, services }
  }

  /** Null for an unknown or ended session. */
  function bySession(secret: string): Caller | null {
    const session = sessions.bySecret(secret)
    if (!session || now() >= sessionEndMs(session)) return null
    recordUse(sessions, session.id, session.last_used_at)
    return { kind: 'session', id: session.id, role: 'admin', services: null }
  }

  function isValid({ kind, id }: CallerId): boolean {
    if (id === serverCaller.id) return true
    if (kind === 'session') {
      const session = sessions.byId(id)
      return session !== null && now() < sessionEndMs(session)
    }
    const token = tokens.byId(id)
    return token !== null && !isExpired(token, now())
  }

  return { byToken, bySession, isValid }
}

export type Callers = ReturnType<typeof createCallers>

/** When a session expires unless it is used before, in ms since 1970. */
export function sessionEndMs({ last_used_at }: Pick<SessionRow, 'last_used_at'>): number {
  return Date.parse(last_used_at) + sessionLifetimeMs
}

export function isExpired({ expires_at }: { expires_at: string | null }, nowMs: number): boolean {
  return expires_at !== null && nowMs >= Date.parse(expires_at)
}
