// Sessions: browsers that are signed in.
import type { Store } from '../store/store.ts'
import { type HashedTokenRow, type HashedTokens, openHashedTokens } from './hashed-tokens.ts'

export interface SessionRow extends HashedTokenRow {
  last_used_at: string
  /** Null when the browser sent no such header. */
  user_agent: string | null
}

export type Sessions = HashedTokens<SessionRow>

export const openSessions = (store: Store): Sessions =>
  openHashedTokens<SessionRow>(store, 'sessions', 'session')
