// API tokens of scripts and terminals; the server's own is a file (section 2 of the API document, API token).

import type { Store } from '../store/store.ts'
import { type HashedTokenRow, type HashedTokens, openHashedTokens } from './hashed-tokens.ts'

export type TokenRole = 'read' | 'deploy' | 'admin'

export interface TokenRow extends HashedTokenRow {
  name: string
  role: TokenRole
  /** Ids of the services that it is limited to; null without a limit. */
  services: string[] | null
  /** The last four characters of the token. */
  hint: string
  /** null when it never ends by itself. */
  expires_at: string | null
  /** It was made by a terminal login; missing from rows that are older than the field. */
  terminal?: true
}

export type Tokens = HashedTokens<TokenRow>

export const openTokens = (store: Store): Tokens => openHashedTokens<TokenRow>(store, 'tokens', 'token')
