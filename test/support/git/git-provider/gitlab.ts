// The API of GitLab: users, tokens and projects.
import {
  addStatus,
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

const personalOnly = 'This endpoint requires token type to be a personal access token'

export function gitlabResponse(state: FakeState, request: FakeRequest): FakeResponse | null {
  const path = request.path.slice('/api/v4'.length)
  const token = tokenOf(state, request)
  if (token === null) return { status: 401, body: { message: '401 Unauthorized' } }
  const { login, kind, scopes, expiresAt } = token
  if (path === '/personal_access_tokens/self' && kind !== 'personal')
    return { status: 400, body: { message: `400 Bad request - ${personalOnly}` } }
  const isAboutUser = path === '/user' ? ['read_user'] : []
  if (path !== '/personal_access_tokens/self' && hasNoScope(token, ['api', 'read_api', ...isAboutUser])) {
    const error_description = 'The request requires higher privileges than provided by the access token.'
    return { status: 403, body: { error: 'insufficient_scope', error_description, scope: 'api read_api' } }
  }
  if (path === '/user') return { status: 200, body: { id: 1, username: login, name: `${login} the user` } }
  if (path === '/personal_access_tokens/self') {
    return { status: 200, body: { id: 1, scopes, expires_at: expiresAt?.slice(0, 10) ?? null } }
  }
  if (path.startsWith('/projects/')) return projectResponse(state, token, request, path)
  if (!path.startsWith('/projects')) return null
  const { entries, headers } = pageOf(state, path, 'per_page', (index) => project(state, login, index))
  return { status: 200, headers, body: entries }
}

const gitlabStates = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped']

function projectResponse(
  state: FakeState,
  token: FakeToken,
  { method, body }: FakeRequest,
  path: string,
): FakeResponse | null {
  const { pathname, searchParams } = new URL(path, state.url)
  const [, encoded = '', rest = ''] = /^\/projects\/([^/]+)\/(.+)$/.exec(pathname) ?? []
  const repository = decodeURIComponent(encoded)
  if (!readsRepository(token, repository)) return { status: 404, body: { message: '404 Project Not Found' } }
  const [, created] = /^statuses\/([0-9a-f]+)$/.exec(rest) ?? []
  if (created !== undefined && method === 'POST') {
    if (hasNoScope(token, ['api']))
      return { status: 403, body: { error: 'insufficient_scope', scope: 'api' } }
    return createStatus(state, repository, created, JSON.parse(body))
  }
  const [, sha] = /^repository\/commits\/([0-9a-f]{40})\/statuses$/.exec(rest) ?? []
  const page = Number(searchParams.get('page') ?? 1)
  const size = Number(searchParams.get('per_page') ?? 20)
  if (rest === 'pipelines') return { status: 200, body: pipelinesOf(state, searchParams.get('sha') ?? '') }
  if (sha === undefined || !state.hasCommit(repository, sha))
    return { status: 404, body: { message: '404 Commit Not Found' } }
  const external = newestStatuses(state, repository, sha).map(({ id, state: status, context: name }) => ({
    id,
    status,
    name,
    allow_failure: false,
  }))
  const jobs = (state.checks.get(sha) ?? []).map(({ id, name, status, isAllowedToFail = false }) => ({
    id: 1000 + id,
    status,
    name,
    allow_failure: isAllowedToFail,
  }))
  return { status: 200, body: [...external, ...jobs].slice((page - 1) * size, page * size) }
}

function pipelinesOf({ checks }: FakeState, sha: string) {
  const jobs = checks.get(sha) ?? []
  if (jobs.length === 0) return []
  const isIn = (...words: string[]) => jobs.some((job) => words.includes(job.status) && !job.isAllowedToFail)
  const status = isIn('failed') ? 'failed' : isIn('pending', 'running', 'created') ? 'running' : 'success'
  return [{ id: 1, sha, status, source: 'push' }]
}

/** GitLab moves a pending status of the name on, and refuses what it cannot move. */
function createStatus(
  state: FakeState,
  repository: string,
  sha: string,
  { state: word, context, name = context, description = '', target_url = '' }: Record<string, string>,
): FakeResponse {
  if (!state.hasCommit(repository, sha)) return { status: 404, body: { message: '404 Commit Not Found' } }
  if (!gitlabStates.includes(word!))
    return { status: 400, body: { error: 'state does not have a valid value' } }
  if (description.length > 255)
    return { status: 400, body: { message: { description: ['is too long (maximum is 255 characters)'] } } }
  const newest = newestStatuses(state, repository, sha).find((one) => one.context === name)
  if (newest?.state === 'pending' && word === 'pending') {
    const message = 'Cannot transition status via :enqueue from :pending'
    return {
      status: 400,
      body: { message: `${message} (Reason(s): Status cannot transition via "enqueue")` },
    }
  }
  const added = { repository, sha, state: word!, context: name!, description, targetUrl: target_url }
  return { status: 201, body: addStatus(state, added) }
}

function project(state: FakeState, login: string, index: number) {
  const namespace = `${login}/group`
  return {
    id: index + 1,
    name: `Repo ${index}`,
    path: `repo-${index}`,
    path_with_namespace: `${namespace}/repo-${index}`,
    namespace: { full_path: namespace },
    description: index === 1 ? '' : `Number ${index}`,
    visibility: ['private', 'public', 'internal'][index % 3],
    archived: index === 1,
    empty_repo: index === 2,
    default_branch: 'main',
    http_url_to_repo: `${state.url}/${namespace}/repo-${index}.git`,
    web_url: `${state.url}/${namespace}/repo-${index}`,
    last_activity_at: updatedAt(index),
  }
}
