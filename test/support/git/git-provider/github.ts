// The API of GitHub: users, repositories, and apps that authenticate with JWTs.

import { randomBytes } from 'node:crypto'
import { jwtVerify } from 'jose'
import {
  addStatus,
  type FakeApp,
  type FakeRequest,
  type FakeResponse,
  type FakeState,
  type FakeToken,
  hasNoScope,
  newestStatuses,
  pageOf,
  readsRepository,
  tokenOf,
  updatedAt,
} from './state.ts'

const limitExceeded: FakeResponse = {
  status: 403,
  body: {
    message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
    documentation_url: 'https://docs.github.com/rest/overview/rate-limits-for-the-rest-api',
  },
}
const badCredentials: FakeResponse = { status: 401, body: { message: 'Bad credentials' } }

export async function githubResponse(state: FakeState, request: FakeRequest): Promise<FakeResponse | null> {
  const path = request.path.slice('/api/v3'.length)
  if (request.userAgent === '') return { status: 403, body: { message: 'Request forbidden by rules' } }
  if (state.isLimited) return limitExceeded
  const conversion = /^\/app-manifests\/(\w+)\/conversions$/.exec(path)
  if (conversion) return request.method === 'POST' ? convert(state, conversion[1]!) : null
  if (path.startsWith('/app/')) return appResponse(state, request, path)
  const token = tokenOf(state, request)
  if (token === null) return badCredentials
  if (path === '/user') {
    const expiry = token.expiresAt?.replace('T', ' ').replace('.000Z', ' UTC')
    const headers = {
      'x-oauth-scopes': token.scopes.join(', '),
      ...(expiry ? { 'github-authentication-token-expiration': expiry } : {}),
    }
    return { status: 200, headers, body: { login: token.login, id: 1, name: `${token.login} the user` } }
  }
  if (path.startsWith('/repos/')) return repositoryResponse(state, token, request, path)
  const isInstallation = token.kind === 'installation'
  const { entries, headers } = pageOf(listedFor(state, token), path, 'per_page', (index) =>
    repository(state, token.login, index),
  )
  if (path.startsWith('/user/repos') && !isInstallation) return { status: 200, headers, body: entries }
  if (path.startsWith('/installation/repositories') && isInstallation) {
    const body = { total_count: state.repositories, repositories: entries.reverse() }
    return { status: 200, headers, body }
  }
  return null
}

/** Without the scope `repo` only public repositories: every second one. */
function listedFor(state: FakeState, token: FakeToken): FakeState {
  if (!hasNoScope(token, ['repo'])) return state
  const repositories = Math.floor(state.repositories / 2)
  return { ...state, repositories, indexOf: (place) => state.indexOf(2 * place + 1) }
}

const notFound: FakeResponse = { status: 404, body: { message: 'Not Found' } }
const forbidden: FakeResponse = { status: 403, body: { message: 'Resource not accessible by integration' } }

function may(token: FakeToken, permission: string, levels: string[]): boolean {
  if (token.kind === 'installation') return levels.includes(token.permissions?.[permission] ?? '')
  return !hasNoScope(token, ['repo'])
}

function repositoryResponse(
  state: FakeState,
  token: FakeToken,
  { method, body }: FakeRequest,
  path: string,
): FakeResponse | null {
  const { pathname, searchParams } = new URL(path, state.url)
  const [, repository = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)(?:\/(.+))?$/.exec(pathname) ?? []
  if (!readsRepository(token, repository)) return notFound
  const isHidden = state.uninstalledRepositories.includes(repository.split('/')[1]!)
  if (isHidden && token.kind === 'installation') return notFound
  if (rest === '') return { status: 200, body: { id: 1, full_name: repository } }
  const [, created] = /^statuses\/([0-9a-f]+)$/.exec(rest) ?? []
  if (created !== undefined && method === 'POST') {
    if (!may(token, 'statuses', ['write'])) return token.kind === 'installation' ? forbidden : notFound
    return createStatus(state, repository, created, JSON.parse(body))
  }
  const [, sha, what] = /^commits\/([0-9a-f]{40})\/(status|check-runs|check-suites)$/.exec(rest) ?? []
  if (sha === undefined || method !== 'GET') return notFound
  const permission = what === 'status' ? 'statuses' : 'checks'
  if (!may(token, permission, ['read', 'write'])) return forbidden
  if (!state.hasCommit(repository, sha))
    return { status: 422, body: { message: `No commit found for SHA: ${sha}` } }
  const size = Number(searchParams.get('per_page') ?? 30)
  const from = (Number(searchParams.get('page') ?? 1) - 1) * size
  if (what === 'status') {
    const all = newestStatuses(state, repository, sha)
    const statuses = all
      .slice(from, from + size)
      .map(({ targetUrl: target_url, ...one }) => ({ ...one, target_url }))
    return { status: 200, body: { state: 'pending', sha, total_count: all.length, statuses } }
  }
  const runs = state.checks.get(sha) ?? []
  if (what === 'check-suites') {
    const isOpen = runs.some(({ status }) => status !== 'completed')
    const latest_check_runs_count = runs.length
    const suite = {
      id: 1,
      status: isOpen ? 'in_progress' : 'completed',
      conclusion: null,
      latest_check_runs_count,
    }
    // Of an app that does not check this repository.
    const idle = { id: 2, status: 'queued', conclusion: null, latest_check_runs_count: 0 }
    const suites = [
      { ...suite, app: { name: 'Actions' } },
      { ...idle, app: { name: 'Idle' } },
    ]
    return { status: 200, body: { total_count: 2, check_suites: suites } }
  }
  return { status: 200, body: { total_count: runs.length, check_runs: runs.slice(from, from + size) } }
}

const githubStates = ['error', 'failure', 'pending', 'success']

function createStatus(
  state: FakeState,
  repository: string,
  sha: string,
  { state: word, target_url = null, description = '', context = 'default' }: Record<string, string | null>,
): FakeResponse {
  const errors = [
    !state.hasCommit(repository, sha) && `No commit found for SHA: ${sha}`,
    !githubStates.includes(word ?? '') && 'State is not included in the list',
    (description ?? '').length > 140 && 'description is too long (maximum is 140 characters)',
    target_url !== null && !/^https?:/.test(target_url) && 'target_url must use http(s) scheme',
  ].filter((one) => one !== false)
  if (errors.length > 0) return { status: 422, body: { message: 'Validation Failed', errors } }
  const added = { repository, sha, state: word!, context: context!, description: description ?? '' }
  return { status: 201, body: addStatus(state, { ...added, targetUrl: target_url ?? '' }) }
}

function repository(state: FakeState, login: string, index: number) {
  const isEmpty = index === 2
  return {
    id: index + 1,
    name: `repo-${index}`,
    full_name: `${login}/repo-${index}`,
    owner: { login },
    description: index === 1 ? '  ' : `Number ${index}`,
    private: index % 2 === 0,
    archived: index === 1,
    default_branch: 'main',
    clone_url: `${state.url}/${login}/repo-${index}.git`,
    html_url: `${state.url}/${login}/repo-${index}`,
    pushed_at: isEmpty ? null : updatedAt(index),
    updated_at: updatedAt(index),
  }
}

function convert(state: FakeState, code: string): FakeResponse {
  const app = [...state.apps.values()].find((one) => one.code === code)
  if (!app) return { status: 404, body: { message: 'Not Found' } }
  app.code = null
  const { id, slug, owner, pem } = app
  const secrets = { client_secret: app.clientSecret, webhook_secret: app.webhookSecret, pem }
  const html_url = `${state.url}/github-apps/${slug}`
  return {
    status: 201,
    body: { id, slug, html_url, owner: { login: owner }, client_id: `Iv1.${id}`, ...secrets },
  }
}

async function appResponse(
  state: FakeState,
  request: FakeRequest,
  path: string,
): Promise<FakeResponse | null> {
  const app = await authenticatedApp(state, request)
  if (app === null) return badCredentials
  if (path.startsWith('/app/installations?') || path === '/app/installations') {
    return { status: 200, body: app.installations.map((one) => installation(state, app, one)) }
  }
  const [, id, action] = /^\/app\/installations\/(\d+)(\/access_tokens)?$/.exec(path) ?? []
  const found = app.installations.find((one) => one.id === Number(id))
  if (!found) return { status: 404, body: { message: 'Not Found' } }
  if (!action) return { status: 200, body: installation(state, app, found) }
  if (found.isSuspended) return { status: 403, body: { message: 'This installation has been suspended' } }
  const { repositories } = JSON.parse(request.body || '{}') as { repositories?: string[] }
  if (repositories?.some((name) => state.uninstalledRepositories.includes(name))) {
    const message = 'There is at least one repository that does not exist or is not accessible'
    return { status: 422, body: { message } }
  }
  const token = `ghs_${randomBytes(20).toString('hex')}`
  const expiresAt = new Date(Date.now() + 60 * 60 * 1000).toISOString()
  state.tokens.set(token, {
    login: found.account,
    scopes: [],
    expiresAt,
    isRevoked: false,
    kind: 'installation',
    groups: [],
    repositories: repositories ?? null,
    permissions: app.permissions,
  })
  return { status: 201, body: { token, expires_at: expiresAt.replace('.000Z', 'Z') } }
}

const maxJwtSeconds = 10 * 60

function installation(
  state: FakeState,
  { permissions }: FakeApp,
  { id, account, isSuspended }: FakeApp['installations'][number],
) {
  return {
    id,
    account: { login: account },
    html_url: `${state.url}/settings/installations/${id}`,
    repository_selection: 'selected',
    permissions,
    suspended_at: isSuspended ? updatedAt(0) : null,
  }
}

async function authenticatedApp(state: FakeState, { authorization }: FakeRequest): Promise<FakeApp | null> {
  const jwt = authorization.replace(/^Bearer /, '')
  const currentDate = new Date(Date.now() + state.clockOffsetMs)
  for (const app of state.apps.values()) {
    const options = { issuer: String(app.id), algorithms: ['RS256'], currentDate, maxTokenAge: '10m' }
    const verified = await jwtVerify(jwt, app.publicKey, options).catch(() => null)
    const { iat = 0, exp = Infinity } = verified?.payload ?? {}
    if (verified && exp - iat <= maxJwtSeconds) return app
  }
  return null
}
