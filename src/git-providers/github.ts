// GitHub, also with data residency (GHE.com), and GitHub Enterprise Server,
// with a user's token or a token of an app's installation.
import { z } from 'zod'
import {
  defineProvider,
  githubRepository,
  type Instance,
  type RepositoryList,
  readRepositories,
  toTimestamp,
} from './provider.ts'

// GitHub names a default branch even for a repository without commits.
const Repositories = z.array(githubRepository(({ pushed_at }) => Boolean(pushed_at)))

export const github = defineProvider({
  apiUrl,
  cloneUsername: 'x-access-token',
  user: z.object({ login: z.string(), name: z.string().nullish() }),
  toAccount({ login, name }, { headers }) {
    const scopes = String(headers['x-oauth-scopes'] ?? '')
    const expiry = headers['github-authentication-token-expiration']
    return {
      login,
      name: name ?? null,
      scopes: scopes.split(/\s*,\s*/).filter((scope) => scope !== ''),
      tokenExpiresAt: toTimestamp(typeof expiry === 'string' ? expiry : null),
    }
  },
  list: {
    path: '/user/repos?per_page=100&sort=pushed&direction=desc',
    body: Repositories,
    isSorted: true,
  },
})

export function installationRepositories(instance: Instance, token: string): Promise<RepositoryList> {
  return readRepositories(instance, apiUrl, token, {
    path: '/installation/repositories?per_page=100',
    body: z.object({ repositories: Repositories }).transform(({ repositories }) => repositories),
    isSorted: false,
  })
}

function apiUrl(baseUrl: string): string {
  const isHosted = baseUrl === 'https://github.com' || new URL(baseUrl).hostname.endsWith('.ghe.com')
  return isHosted ? baseUrl.replace('://', '://api.') : `${baseUrl}/api/v3`
}
