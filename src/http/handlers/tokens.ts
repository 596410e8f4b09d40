// API tokens: for scripts, CI and terminals.
// Mind: records are copied field by field; the token itself is shown once and kept nowhere.
import type { TokenRow } from '../../../storage/tokens.ts'
import { createToken as makeToken } from '../../account/api-tokens.ts'
import { Failure } from '../../errors.ts'
import type { Call } from '../route.ts'
import type { CreatedToken, CreateToken, Token, TokenParams } from '../schemas/token.ts'

/** The newest first; the server's own is not among them. */
export function listTokens({ context: { storage } }: Pick<Call, 'context'>): Token[] {
  return storage.tokens.list().map(toToken)
}

export async function createToken(call: Call<unknown, unknown, CreateToken>): Promise<CreatedToken> {
  const { storage } = call.context
  const { name, expires_in_days: expiresInDays = null } = call.body
  const at = new Date().toISOString()
  const { row, token } = await makeToken(storage, { id: storage.ids.newId('tok'), name, at, expiresInDays })
  return { api_token: toToken(row), token }
}

export async function deleteToken(
  call: Pick<Call<TokenParams>, 'context' | 'params' | 'streams'>,
): Promise<undefined> {
  const { context, params, streams } = call
  if (!(await context.storage.tokens.remove(params.id))) {
    throw new Failure('not_found', 'there is no such token')
  }
  streams.check()
}

function toToken({ id, name, hint, created_at, expires_at, last_used_at }: TokenRow): Token {
  return { id, name, hint, created_at, expires_at, last_used_at }
}
