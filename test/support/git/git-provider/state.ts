// What the fake provider knows, shared by its three dialects.
import type { KeyObject } from 'node:crypto'

export interface FakeRequest {
  method: string
  /** With the query. */
  path: string
  authorization: string
  body: string
}

export interface FakeResponse {
  status: number
  body?: unknown
  headers?: Record<string, string>
  /** Sent instead of JSON, as HTML. */
  text?: string
}

export interface FakeToken {
  login: string
  scopes: string[]
  /** RFC 3339. */
  expiresAt: string | null
  isRevoked: boolean
  /** For the token of an installation. */
  installationId?: number
  /** The only repositories that it reads; missing means all. */
  repositories?: string[]
}

export interface FakeApp {
  id: number
  slug: string
  owner: string
  /** Works once. */
  code: string | null
  publicKey: KeyObject
  pem: string
  clientSecret: string
  webhookSecret: string
  /** Where GitHub sends the browser after an installation. */
  setupUrl: string
  installations: { id: number; account: string; isSuspended: boolean }[]
}

export interface FakeState {
  url: string
  repositories: number
  tokens: Map<string, FakeToken>
  codes: Map<string, { login: string; redirectUri: string; uses: number }>
  apps: Map<string, FakeApp>
  refreshTokens: Map<string, { login: string; uses: number }>
  /** Client id -> secret. */
  clients: Map<string, string>
  /** The difference of the provider's clock. */
  clockOffsetMs: number
  /** Names of repositories that no app may read. */
  uninstalledRepositories: string[]
  /** The lifetime of OAuth access tokens. */
  accessSeconds: number
}

/** The valid token of a request; null without one. */
export function tokenOf({ tokens }: FakeState, { authorization }: FakeRequest): FakeToken | null {
  const token = tokens.get(authorization.replace(/^Bearer /, ''))
  const isExpired = token?.expiresAt && Date.parse(token.expiresAt) < Date.now()
  return token && !token.isRevoked && !isExpired ? token : null
}

/** The page that the query asks for. Entry 0 is the one that was updated last. */
export function pageOf<T>(state: FakeState, path: string, sizeName: string, entry: (index: number) => T) {
  const query = new URL(path, state.url).searchParams
  const size = Number(query.get(sizeName) ?? 30)
  const page = Number(query.get('page') ?? 1)
  const first = (page - 1) * size
  const length = Math.max(0, Math.min(size, state.repositories - first))
  return Array.from({ length }, (_, index) => entry(first + index))
}

export function updatedAt(index: number): string {
  return new Date(Date.UTC(2026, 0, 1) - index * 60_000).toISOString().replace('.000Z', 'Z')
}
