// API tokens of scripts and terminals. The server's own token is a file.
import type { Store } from '../store/store.ts'
import { type HashedTokenRow, type HashedTokens, openHashedTokens } from './hashed-tokens.ts'

export type TokenRole = 'read' | 'deploy' | 'admin'

export interface TokenRow extends HashedTokenRow {
  name: string
  role: TokenRole
  /** Ids of the services that the token is limited to; null without a limit. */
  services: string[] | null
  /** The last four characters of the token. */
  hint: string
  expires_at: string | null
  /** Created by a terminal login. Missing in rows older than the field. */
  terminal?: true
}

export type Tokens = HashedTokens<TokenRow>

export const openTokens = (store: Store): Tokens => openHashedTokens<TokenRow>(store, 'tokens', 'token')
