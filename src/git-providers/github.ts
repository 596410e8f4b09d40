// GitHub and GitHub Enterprise Server, with a user's token or a token of an app's installation.
import { z } from 'zod'
import { type Pages, readPages } from './pages.ts'
import {
  type Account,
  ask,
  type Instance,
  maxRepositories,
  newestFirst,
  type Provider,
  type ProviderRepository,
} from './provider.ts'
import type { ProviderResponse } from './request.ts'
import { optionalWebUrl, parseResponse, toTimestamp } from './response.ts'

const pageSize = 100

const User = z.object({ login: z.string(), name: z.string().nullish() })

const Repository = z
  .object({
    id: z.int(),
    name: z.string(),
    full_name: z.string(),
    owner: z.object({ login: z.string() }),
    description: z.string().nullish(),
    private: z.boolean(),
    visibility: z.string().nullish(),
    archived: z.boolean().nullish(),
    default_branch: z.string().nullish(),
    size: z.number().nullish(),
    clone_url: optionalWebUrl,
    html_url: optionalWebUrl,
    pushed_at: z.string().nullish(),
    updated_at: z.string().nullish(),
  })
  .transform(
    (one): ProviderRepository => ({
      id: String(one.id),
      name: one.name,
      fullName: one.full_name,
      owner: one.owner.login,
      description: one.description?.trim() || null,
      isPrivate: one.private || (one.visibility ?? 'public') !== 'public',
      isArchived: one.archived ?? false,
      // GitHub names a default branch even for a repository without commits.
      defaultBranch: one.pushed_at ? (one.default_branch ?? null) : null,
      cloneUrl: one.clone_url,
      webUrl: one.html_url,
      updatedAt: toTimestamp(one.pushed_at ?? one.updated_at),
    }),
  )
const Repositories = z.array(Repository)
const InstallationRepositories = z.object({ total_count: z.int(), repositories: Repositories })

export const github: Provider = {
  apiUrl,
  cloneUsername: 'x-access-token',

  async account(instance, token): Promise<Account> {
    const response = await ask(instance, { url: `${apiUrl(instance.baseUrl)}/user`, token })
    const { login, name } = parseResponse(User, instance, response)
    const scopes = String(response.headers['x-oauth-scopes'] ?? '')
    const expiry = response.headers['github-authentication-token-expiration']
    return {
      login,
      name: name ?? null,
      scopes: scopes.split(/\s*,\s*/).filter((scope) => scope !== ''),
      tokenExpiresAt: toTimestamp(typeof expiry === 'string' ? expiry : null),
    }
  },

  async repositories(instance, token) {
    const url = `${apiUrl(instance.baseUrl)}/user/repos?per_page=${pageSize}&sort=pushed&direction=desc`
    const { entries, isTruncated } = await readPages({
      read: (page) => ask(instance, { url: `${url}&page=${page}`, token }),
      parse: (body) => parseResponse(Repositories, instance, { body }),
      countPages: lastPage,
      pageSize,
      maxEntries: maxRepositories,
    })
    return { repositories: entries, isTruncated }
  },
}

/** The repositories that an installation of an app may read. GitHub does not sort them. */
export async function installationRepositories(
  instance: Instance,
  token: string,
): Promise<Pages<ProviderRepository>> {
  const url = `${apiUrl(instance.baseUrl)}/installation/repositories?per_page=${pageSize}`
  const { entries, isTruncated } = await readPages({
    read: (page) => ask(instance, { url: `${url}&page=${page}`, token }),
    parse: (body) => parseResponse(InstallationRepositories, instance, { body }).repositories,
    countPages: ({ body }) =>
      Math.ceil(parseResponse(InstallationRepositories, instance, { body }).total_count / pageSize),
    pageSize,
    maxEntries: maxRepositories,
  })
  return { entries: newestFirst(entries), isTruncated }
}

function apiUrl(baseUrl: string): string {
  return baseUrl === 'https://github.com' ? 'https://api.github.com' : `${baseUrl}/api/v3`
}

/** From the `Link` header; a single page has none. */
function lastPage({ headers }: ProviderResponse): number | null {
  const link = headers.link
  const last = /[?&]page=(\d+)[^>]*>; *rel="last"/.exec(Array.isArray(link) ? link.join() : (link ?? ''))?.[1]
  return last === undefined ? 1 : Number(last)
}
