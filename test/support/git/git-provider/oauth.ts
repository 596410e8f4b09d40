// The token endpoint of GitLab and Gitea. A code and a refresh token work once.
import { randomBytes } from 'node:crypto'
import type { FakeRequest, FakeResponse, FakeState } from './state.ts'

const invalidGrant: FakeResponse = {
  status: 400,
  body: { error: 'invalid_grant', error_description: 'The provided authorization grant is invalid.' },
}

export function oauthResponse(state: FakeState, { body }: FakeRequest): FakeResponse {
  const form = new URLSearchParams(body)
  const secret = state.clients.get(form.get('client_id') ?? '')
  if (secret === undefined || secret !== form.get('client_secret')) {
    return {
      status: 401,
      body: { error: 'invalid_client', error_description: 'Client authentication failed.' },
    }
  }
  if (form.get('grant_type') === 'refresh_token') {
    const known = state.refreshTokens.get(form.get('refresh_token') ?? '')
    return known && ++known.uses === 1 ? issue(state, known.login) : invalidGrant
  }
  const code = state.codes.get(form.get('code') ?? '')
  if (!code || ++code.uses > 1 || code.redirectUri !== form.get('redirect_uri')) return invalidGrant
  return issue(state, code.login)
}

function issue(state: FakeState, login: string): FakeResponse {
  const access = `at_${randomBytes(20).toString('hex')}`
  const refresh = `rt_${randomBytes(20).toString('hex')}`
  const expiresAt = new Date(Date.now() + state.accessSeconds * 1000).toISOString()
  state.tokens.set(access, { login, scopes: ['read_api', 'read_repository'], expiresAt, isRevoked: false })
  state.refreshTokens.set(refresh, { login, uses: 0 })
  const body = {
    access_token: access,
    refresh_token: refresh,
    expires_in: state.accessSeconds,
    token_type: 'Bearer',
  }
  return { status: 200, body }
}
