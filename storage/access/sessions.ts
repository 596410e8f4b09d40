// Sessions of the dashboard: a browser that signed in (section 2 of the API document, Session).

import type { Store } from '../store/store.ts'
import { type BearerRow, type Bearers, openBearers } from './hashed-tokens.ts'

export interface SessionRow extends BearerRow {
  last_used_at: string
  /** null when the browser sent none. */
  user_agent: string | null
}

export type Sessions = Bearers<SessionRow>

export const openSessions = (store: Store): Sessions => openBearers<SessionRow>(store, 'sessions', 'session')
