// What the fake provider knows, shared by its three dialects.
import type { KeyObject } from 'node:crypto'

export interface FakeRequest {
  method: string
  /** With the query. */
  path: string
  authorization: string
  userAgent: string
  /** Empty for requests of git. */
  body: string
}

export interface FakeResponse {
  status: number
  body?: unknown
  headers?: Record<string, string>
  /** Sent instead of JSON, as HTML. */
  text?: string
}

/** A status that the provider shows next to a commit. */
export interface FakeStatus {
  id: number
  /** As `owner/name`. */
  repository: string
  sha: string
  /** In the words of the provider. */
  state: string
  context: string
  description: string
  targetUrl: string
  createdAt: Date
}

/** A run of a check of GitHub, a job of GitLab. */
export interface FakeCheck {
  id: number
  name: string
  status: string
  conclusion: string | null
  /** GitLab: whether the pipeline succeeds without it. */
  isAllowedToFail?: boolean
}

export interface FakeToken {
  login: string
  kind: 'personal' | 'oauth' | 'installation'
  scopes: string[]
  /** Other owners whose repositories the account may read, such as its groups. */
  groups: string[]
  /** RFC 3339. */
  expiresAt: string | null
  isRevoked: boolean
  /** The only repositories that it reads; null means all of its owners. */
  repositories: string[] | null
  /** Of an installation, such as `statuses: write`. */
  permissions?: Record<string, string>
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
  permissions: Record<string, string>
  installations: { id: number; account: string; isSuspended: boolean }[]
}

export interface FakeState {
  url: string
  repositories: number
  /** The repository at a place of the list; 0 is the one that was updated last. */
  indexOf: (place: number) => number
  tokens: Map<string, FakeToken>
  codes: Map<string, { login: string; scopes: string[]; clientId: string; redirectUri: string; uses: number }>
  apps: Map<string, FakeApp>
  /** With the access token that came with it. */
  refreshTokens: Map<string, { access: string; clientId: string; uses: number }>
  clients: Map<string, FakeClient>
  /** The difference of the provider's clock. */
  clockOffsetMs: number
  /** As `owner/name`: everyone reads them. */
  publicRepositories: string[]
  /** Names of repositories that no app may read. */
  uninstalledRepositories: string[]
  /** As `owner/name`: those that had another name, by their former one. */
  renamed: Map<string, string>
  /** The lifetime of OAuth access tokens. */
  accessSeconds: number
  /** GitHub leaves out the link to the last page if it cannot calculate it. */
  linksLastPage: boolean
  /** All that were accepted, oldest first. */
  statuses: FakeStatus[]
  /** By commit. */
  checks: Map<string, FakeCheck[]>
  /** Whether the repository has the commit; every full id by default. */
  hasCommit: (repository: string, sha: string) => boolean
  /** Requests that are carried out, and whose answers never arrive. */
  answersLost: (request: FakeRequest) => boolean
  /** Whether GitHub answers that its secondary rate limit is exceeded. */
  isLimited: boolean
}

/** An OAuth application. */
export interface FakeClient {
  secret: string
  redirectUris: string[]
}

/** The valid token of a request; null without one. */
export function tokenOf(state: FakeState, { authorization }: FakeRequest): FakeToken | null {
  return validToken(state, authorization.replace(/^Bearer /, ''))
}

export function validToken({ tokens }: FakeState, secret: string): FakeToken | null {
  const token = tokens.get(secret)
  const isExpired = token?.expiresAt && Date.parse(token.expiresAt) < Date.now()
  return token && !token.isRevoked && !isExpired ? token : null
}

/** The page that the query asks for, with its Link header. */
export function pageOf<T>(state: FakeState, path: string, sizeName: string, entry: (index: number) => T) {
  const url = new URL(path, state.url)
  const size = Number(url.searchParams.get(sizeName) ?? 30)
  const page = Number(url.searchParams.get('page') ?? 1)
  const first = (page - 1) * size
  const length = Math.max(0, Math.min(size, state.repositories - first))
  const last = Math.max(1, Math.ceil(state.repositories / size))
  const links: [rel: string, page: number][] = []
  if (page < last) links.push(['next', page + 1])
  if (page < last && state.linksLastPage) links.push(['last', last])
  if (page > 1) links.push(['prev', page - 1], ['first', 1])
  const toLink = ([rel, number]: [string, number]) => {
    url.searchParams.set('page', String(number))
    return `<${url}>; rel="${rel}"`
  }
  const headers: Record<string, string> = links.length === 0 ? {} : { link: links.map(toLink).join(', ') }
  return { headers, entries: Array.from({ length }, (_, place) => entry(state.indexOf(first + place))) }
}

/** Whether a token has none of the scopes: `write:x` includes `read:x`. An installation has permissions. */
export function hasNoScope({ kind, scopes }: FakeToken, wanted: string[]): boolean {
  const has = (scope: string) => scopes.includes(scope) || scopes.includes(scope.replace(/^read:/, 'write:'))
  return kind !== 'installation' && !wanted.some(has)
}

/** Whether the token reads this repository: as for git, it is that of the account, a group or the app. */
export function readsRepository({ login, groups, repositories }: FakeToken, repository: string): boolean {
  const [owner = '', ...rest] = repository.split('/')
  const isOwned = [login, ...groups].some((one) => one.toLowerCase() === owner.toLowerCase())
  return isOwned && repositories?.includes(rest.join('/')) !== false
}

/** The newest status of each context, newest first. */
export function newestStatuses({ statuses }: FakeState, repository: string, sha: string): FakeStatus[] {
  const own = statuses.filter((one) => one.repository === repository && one.sha === sha).reverse()
  return own.filter(({ context }, at) => own.findIndex((one) => one.context === context) === at)
}

export function addStatus(state: FakeState, status: Omit<FakeStatus, 'id' | 'createdAt'>): FakeStatus {
  const added = { id: state.statuses.length + 1, createdAt: new Date(), ...status }
  state.statuses.push(added)
  return added
}

export function updatedAt(index: number): string {
  return new Date(Date.UTC(2026, 0, 1) - index * 60_000).toISOString().replace('.000Z', 'Z')
}
