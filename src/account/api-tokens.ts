// API tokens. The token itself is returned once, when it is created.
import type { TokenRole, TokenRow } from '../../storage/access/hashed-tokens.ts'
import type { Storage } from '../../storage/index.ts'
import { newSecret } from './secrets.ts'

interface NewToken {
  id: string
  name: string
  at: string
  grant: Grant
  terminal?: true
}

export interface Grant {
  role: TokenRole
  /** Ids of services; null for all services. */
  services: string[] | null
  /** Null for a token that never expires. */
  expiresInDays: number | null
}

interface CreatedToken {
  row: TokenRow
  /** Returned to the client that created it, and not stored. */
  token: string
}

const dayMs = 24 * 60 * 60 * 1000

export async function createToken(
  storage: Pick<Storage, 'commit' | 'tokens'>,
  { id, name, at, grant, terminal }: NewToken,
): Promise<CreatedToken> {
  const token = newSecret('bth_')
  const { role, services, expiresInDays } = grant
  const expires_at =
    expiresInDays === null ? null : new Date(Date.parse(at) + expiresInDays * dayMs).toISOString()
  const dates = { created_at: at, expires_at, last_used_at: null }
  const origin = terminal ? { terminal } : {}
  const row = { id, name, hint: token.slice(-4), role, services, ...dates, ...origin }
  await storage.commit((commit) => storage.tokens.insert(commit, token, row))
  return { row, token }
}

/** Derived from the id of the terminal login, so a login that resumes after a crash replaces its token. */
export function tokenIdOf(loginId: string): string {
  return loginId.replace(/^cli-/, 'tok-')
}
