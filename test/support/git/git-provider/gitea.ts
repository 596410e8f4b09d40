// The API of Gitea and Forgejo: users and repositories, which come in no particular order.
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

const scopes = { '/user': 'read:user', '/user/repos': 'read:repository' }

export function giteaResponse(state: FakeState, request: FakeRequest): FakeResponse | null {
  const path = request.path.slice('/api/v1'.length)
  const token = tokenOf(state, request)
  if (token === null) return { status: 401, body: { message: 'token is required' } }
  const { login } = token
  const wanted = scopes[new URL(path, state.url).pathname as keyof typeof scopes]
  if (wanted && hasNoScope(token, [wanted])) {
    const message = `token does not have at least one of required scope(s), required=[${wanted}]`
    return { status: 403, body: { message } }
  }
  if (path.startsWith('/repos/')) return repositoryResponse(state, token, request, path)
  if (path === '/user') return { status: 200, body: { id: 1, login, full_name: '' } }
  if (!path.startsWith('/user/repos')) return null
  const { entries, headers } = pageOf(state, path, 'limit', (index) => repository(state, login, index))
  return { status: 200, headers, body: entries.reverse() }
}

const giteaStates = ['pending', 'success', 'error', 'failure', 'warning']

function repositoryResponse(
  state: FakeState,
  token: FakeToken,
  { method, body }: FakeRequest,
  path: string,
): FakeResponse | null {
  const { pathname, searchParams } = new URL(path, state.url)
  const [, repository = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)\/(.+)$/.exec(pathname) ?? []
  if (!readsRepository(token, repository)) return { status: 404, body: { message: 'not found' } }
  const scope = method === 'GET' ? 'read:repository' : 'write:repository'
  if (hasNoScope(token, [scope])) {
    const message = `token does not have at least one of required scope(s), required=[${scope}]`
    return { status: 403, body: { message } }
  }
  const [, created] = /^statuses\/([0-9a-f]+)$/.exec(rest) ?? []
  const [, read] = /^commits\/([0-9a-f]{40})\/status$/.exec(rest) ?? []
  const sha = created ?? read
  if (sha === undefined || !state.hasCommit(repository, sha))
    return { status: 404, body: { message: `object does not exist [id: ${sha}]` } }
  if (created !== undefined && method === 'POST') {
    const { state: word, context, description = '', target_url = '' } = JSON.parse(body)
    if (!giteaStates.includes(word)) return { status: 422, body: { message: `invalid state ${word}` } }
    return {
      status: 201,
      body: addStatus(state, { repository, sha, state: word, context, description, targetUrl: target_url }),
    }
  }
  const size = Math.min(50, Number(searchParams.get('limit') ?? 30))
  const from = (Number(searchParams.get('page') ?? 1) - 1) * size
  const all = newestStatuses(state, repository, sha)
  const statuses = all.slice(from, from + size).map(({ state: status, ...one }) => ({ ...one, status }))
  return { status: 200, body: { state: '', sha, total_count: all.length, statuses } }
}

function repository(state: FakeState, login: string, index: number) {
  return {
    id: index + 1,
    name: `repo-${index}`,
    full_name: `${login}/repo-${index}`,
    owner: { login },
    description: index === 1 ? '' : `Number ${index}`,
    private: index % 2 === 0,
    archived: index === 1,
    empty: index === 2,
    default_branch: 'main',
    clone_url: `${state.url}/${login}/repo-${index}.git`,
    html_url: `${state.url}/${login}/repo-${index}`,
    updated_at: updatedAt(index),
  }
}
