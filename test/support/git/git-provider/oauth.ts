// The token endpoint of GitLab and Gitea. A code and a refresh token work once. At GitLab a renewal ends the
// former access token.
import { randomBytes } from 'node:crypto'
import type { FakeRequest, FakeResponse, FakeState, FakeToken } from './state.ts'

type Dialect = 'gitlab' | 'gitea'

function refusal(dialect: Dialect, of: 'grant' | 'client'): FakeResponse {
  if (dialect === 'gitea') {
    const error_description = of === 'client' ? 'invalid client secret' : 'client is not authorized'
    return { status: 400, body: { error: 'unauthorized_client', error_description } }
  }
  if (of === 'client') {
    const error_description = 'Client authentication failed.'
    return { status: 401, body: { error: 'invalid_client', error_description } }
  }
  const error_description = 'The provided authorization grant is invalid.'
  return { status: 400, body: { error: 'invalid_grant', error_description } }
}

export function oauthResponse(state: FakeState, { method, path, body }: FakeRequest): FakeResponse {
  const dialect = path.startsWith('/oauth/') ? 'gitlab' : 'gitea'
  if (method !== 'POST') return { status: 404, body: { error: 'Not Found' } }
  const form = new URLSearchParams(body)
  const clientId = form.get('client_id') ?? ''
  const client = state.clients.get(clientId)
  if (client === undefined || client.secret !== form.get('client_secret')) return refusal(dialect, 'client')
  if (form.get('grant_type') === 'refresh_token') {
    const known = state.refreshTokens.get(form.get('refresh_token') ?? '')
    if (known?.clientId !== clientId || ++known.uses > 1) return refusal(dialect, 'grant')
    const former = state.tokens.get(known.access)!
    if (dialect === 'gitlab') former.isRevoked = true
    return issue(state, dialect, clientId, former)
  }
  const code = state.codes.get(form.get('code') ?? '')
  if (code?.clientId !== clientId || ++code.uses > 1 || code.redirectUri !== form.get('redirect_uri'))
    return refusal(dialect, 'grant')
  return issue(state, dialect, clientId, { ...code, groups: [] })
}

function issue(
  state: FakeState,
  dialect: Dialect,
  clientId: string,
  { login, scopes, groups }: Pick<FakeToken, 'login' | 'scopes' | 'groups'>,
): FakeResponse {
  const access = `at_${randomBytes(20).toString('hex')}`
  const refresh = `rt_${randomBytes(20).toString('hex')}`
  const expiresAt = new Date(Date.now() + state.accessSeconds * 1000).toISOString()
  const token = { login, scopes, groups, expiresAt, isRevoked: false, repositories: null }
  state.tokens.set(access, { ...token, kind: 'oauth' })
  state.refreshTokens.set(refresh, { access, clientId, uses: 0 })
  const body = {
    access_token: access,
    refresh_token: refresh,
    expires_in: state.accessSeconds,
    token_type: 'Bearer',
  }
  if (dialect === 'gitea') return { status: 200, body }
  const created_at = Math.floor(Date.now() / 1000)
  return { status: 200, body: { ...body, scope: scopes.join(' '), created_at } }
}
