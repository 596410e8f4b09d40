// Who reads which repository over HTTP: a token those of its account and its groups, an installation those
// that it was made for.
import { type FakeRequest, type FakeState, hasNoScope, validToken } from './state.ts'

/** 401 for credentials that do not count, 404 for a repository that they do not read. */
export function accessStatus(state: FakeState, { path, authorization }: FakeRequest): 200 | 401 | 404 {
  const [, owner = '', name = ''] = /^\/([^/]+)\/(?:.*\/)?([^/]+)\.git\//.exec(path) ?? []
  if (state.publicRepositories.includes(`${owner}/${name}`)) return 200
  const [username, password = ''] = Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':')
  const token = validToken(state, password)
  const usernames = { personal: null, oauth: 'oauth2', installation: 'x-access-token' }
  if (token === null || (usernames[token.kind] ?? username) !== username || username === '') return 401
  if (hasNoScope(token, ['repo', 'read_repository', 'read:repository'])) return 401
  const isOwned = [token.login, ...token.groups].some((one) => one.toLowerCase() === owner.toLowerCase())
  return isOwned && token.repositories?.includes(name) !== false ? 200 : 404
}
