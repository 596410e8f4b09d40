// OAuth 2 with GitLab and Gitea (RFC 6749). A code, and mostly a refresh token, works only once.
import { z } from 'zod'
import { Failure } from '../errors.ts'
import type { ProviderName } from './base-url.ts'
import { ask, type Instance, parseResponse } from './provider.ts'
import type { ProviderRejection } from './request.ts'

/** An application that the administrator registered at the provider for this server. */
export interface OauthApplication {
  clientId: string
  clientSecret: string
}

export interface OauthTokens {
  accessToken: string
  /** Null if the provider issued none: the connection ends with the access token. */
  refreshToken: string | null
  /** RFC 3339; null if the access token does not expire. */
  expiresAt: string | null
  /** Empty if the provider does not report them. */
  scopes: string[]
}

const endpoints = {
  gitlab: {
    authorize: '/oauth/authorize',
    token: '/oauth/token',
    scope: 'read_api read_repository',
    reportScope: 'api read_repository',
  },
  gitea: {
    authorize: '/login/oauth/authorize',
    token: '/login/oauth/access_token',
    scope: 'read:repository read:user',
    reportScope: 'write:repository read:user',
  },
}

/** Ten years. A larger number is not a time that JavaScript can express. */
const maxSeconds = 10 * 365 * 24 * 60 * 60

const TokenResponse = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().nullish(),
  expires_in: z.number().positive().nullish(),
  scope: z.string().nullish(),
})

/** Throws `invalid_request` for GitHub, which registers an app instead. */
export function oauthEndpoints(provider: ProviderName) {
  if (provider !== 'github') return endpoints[provider]
  throw new Failure(
    'invalid_request',
    'GitHub connects with an app or a token, not with an OAuth application',
  )
}

/** Statuses of commits have no scope of their own at GitLab and Gitea. */
export function scopesOf(provider: ProviderName, reportsDeploys: boolean): string {
  const { scope, reportScope } = oauthEndpoints(provider)
  return reportsDeploys ? reportScope : scope
}

interface AuthorizationRequest {
  clientId: string
  redirectUri: string
  state: string
  reportsDeploys: boolean
}

export function authorizationUrl(
  { provider, baseUrl }: Pick<Instance, 'provider' | 'baseUrl'>,
  { clientId, redirectUri, state, reportsDeploys }: AuthorizationRequest,
): string {
  const { authorize } = oauthEndpoints(provider)
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    state,
    scope: scopesOf(provider, reportsDeploys),
  })
  return `${baseUrl}${authorize}?${query}`
}

export function exchangeCode(
  instance: Instance,
  application: OauthApplication,
  { code, redirectUri }: { code: string; redirectUri: string },
): Promise<OauthTokens> {
  const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  return requestTokens(instance, application, grant)
}

/** The new refresh token replaces the old one. A provider that sends none lets the old one continue. */
export async function renewTokens(
  instance: Instance,
  application: OauthApplication,
  refreshToken: string,
): Promise<OauthTokens> {
  const grant = { grant_type: 'refresh_token', refresh_token: refreshToken }
  const tokens = await requestTokens(instance, application, grant)
  return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken }
}

/** Whether the token endpoint refused the grant for good. A proxy may answer with any other status. */
export function isRefusedGrant({ status, body }: ProviderRejection): boolean {
  const error = (body as { error?: unknown } | null)?.error
  const refusals: unknown[] = ['invalid_grant', 'invalid_client', 'unauthorized_client']
  return (status === 400 || status === 401) && refusals.includes(error)
}

async function requestTokens(
  instance: Instance,
  { clientId, clientSecret }: OauthApplication,
  grant: Record<string, string>,
): Promise<OauthTokens> {
  const url = `${instance.baseUrl}${oauthEndpoints(instance.provider).token}`
  const form = { ...grant, client_id: clientId, client_secret: clientSecret }
  const requestedAt = Date.now()
  const response = await ask(instance, { method: 'POST', url, form })
  const { access_token, refresh_token, expires_in, scope } = parseResponse(TokenResponse, instance, response)
  return {
    accessToken: access_token,
    refreshToken: refresh_token ?? null,
    scopes: (scope ?? '').split(/[\s,]+/).filter((one) => one !== ''),
    expiresAt: expires_in
      ? new Date(requestedAt + Math.min(expires_in, maxSeconds) * 1000).toISOString()
      : null,
  }
}
