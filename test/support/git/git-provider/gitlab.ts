// The API of GitLab: users, tokens and projects.
import {
  type FakeRequest,
  type FakeResponse,
  type FakeState,
  hasNoScope,
  pageOf,
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
  if (!path.startsWith('/projects')) return null
  const { entries, headers } = pageOf(state, path, 'per_page', (index) => project(state, login, index))
  return { status: 200, headers, body: entries }
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
