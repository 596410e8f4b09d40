// Sessions of the dashboard: a browser that signed in (section 2 of the API document, Session).

import type { Store } from '../store/store.ts'
import { type HashedTokenRow, type HashedTokens, openHashedTokens } from './hashed-tokens.ts'

export interface SessionRow extends HashedTokenRow {
  last_used_at: string
  /** null when the browser sent none. */
  user_agent: string | null
}

export type Sessions = HashedTokens<SessionRow>

export const openSessions = (store: Store): Sessions =>
  openHashedTokens<SessionRow>(store, 'sessions', 'session')
