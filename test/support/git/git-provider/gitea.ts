// The API of Gitea and Forgejo: users and repositories, which come in no particular order.
import {
  type FakeRequest,
  type FakeResponse,
  type FakeState,
  hasNoScope,
  pageOf,
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
  if (path === '/user') return { status: 200, body: { id: 1, login, full_name: '' } }
  if (!path.startsWith('/user/repos')) return null
  const { entries, headers } = pageOf(state, path, 'limit', (index) => repository(state, login, index))
  return { status: 200, headers, body: entries.reverse() }
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
