// API tokens. The token itself is returned once and never stored.

import { z } from 'zod'
import type { TokenRow } from '../../../storage/access/tokens.ts'
import type { Storage } from '../../../storage/index.ts'
import { createToken as makeToken } from '../../account/api-tokens.ts'
import { CreatedToken, CreateToken, Token, TokenParams } from '../../api/access/token.ts'
import { notFound } from '../../errors.ts'
import { type Call, type CallById, del, get, post, tagged } from '../pipeline/route.ts'
import { toGrant } from '../rules/token-grant.ts'
import { accountPost } from './record-routes.ts'

export const tokenRoutes = tagged('Account', [
  get('/auth/tokens', {
    credential: 'session',
    summary: 'Lists the API tokens, newest first, without the server token',
    response: z.array(Token),
    handler: listTokens,
  }),
  post('/auth/tokens', {
    ...accountPost,
    credential: 'session',
    summary: 'Creates an API token; the token itself is returned only here',
    body: CreateToken,
    response: CreatedToken,
    status: 201,
    handler: createToken,
  }),
  del('/auth/tokens/{id}', {
    credential: 'session',
    summary: 'Revokes an API token, effective immediately',
    params: TokenParams,
    handler: deleteToken,
  }),
])

export function listTokens({ context: { storage } }: Pick<Call, 'context'>): Token[] {
  return storage.tokens.list().map((row) => toToken(storage, row))
}

export async function createToken(call: Call<unknown, unknown, CreateToken>): Promise<CreatedToken> {
  const { storage } = call.context
  const { name, ...asked } = call.body
  const grant = toGrant(storage, asked)
  const at = new Date().toISOString()
  const { row, token } = await makeToken(storage, { id: storage.ids.newId('tok'), name, at, grant })
  return { api_token: toToken(storage, row), token }
}

export async function deleteToken(
  call: Pick<CallById, 'context' | 'params' | 'streams'>,
): Promise<undefined> {
  const { context, params, streams } = call
  if (!(await context.storage.tokens.remove(params.id))) throw notFound('there is no such token')
  streams.check()
}

function toToken(storage: Storage, row: TokenRow): Token {
  const { id, name, hint, role, created_at, expires_at, last_used_at } = row
  const services = row.services?.map((service) => storage.services.get(service)?.name ?? service) ?? null
  return { id, name, hint, role, services, created_at, expires_at, last_used_at }
}
