// Gitea and Forgejo, with an access token or a token of an OAuth application.
import { z } from 'zod'
import { readPages } from './pages.ts'
import { ask, maxRepositories, newestFirst, type Provider, type ProviderRepository } from './provider.ts'
import { optionalWebUrl, parseResponse, toTimestamp } from './response.ts'

/** The default maximum of an instance. */
const pageSize = 50

const User = z.object({ login: z.string(), full_name: z.string().nullish() })

const Repository = z
  .object({
    id: z.int(),
    name: z.string(),
    full_name: z.string(),
    owner: z.object({ login: z.string() }),
    description: z.string().nullish(),
    private: z.boolean(),
    internal: z.boolean().nullish(),
    archived: z.boolean().nullish(),
    empty: z.boolean().nullish(),
    default_branch: z.string().nullish(),
    clone_url: optionalWebUrl,
    html_url: optionalWebUrl,
    updated_at: z.string().nullish(),
  })
  .transform(
    (one): ProviderRepository => ({
      id: String(one.id),
      name: one.name,
      fullName: one.full_name,
      owner: one.owner.login,
      description: one.description?.trim() || null,
      isPrivate: one.private || one.internal === true,
      isArchived: one.archived ?? false,
      defaultBranch: one.empty ? null : (one.default_branch ?? null),
      cloneUrl: one.clone_url,
      webUrl: one.html_url,
      updatedAt: toTimestamp(one.updated_at),
    }),
  )
const Repositories = z.array(Repository)

export const gitea: Provider = {
  apiUrl,
  cloneUsername: 'oauth2',

  async account(instance, token) {
    const response = await ask(instance, { url: `${apiUrl(instance.baseUrl)}/user`, token })
    const { login, full_name } = parseResponse(User, instance, response)
    // Gitea reports neither the scopes nor the expiry of a token.
    return { login, name: full_name || null, scopes: [], tokenExpiresAt: null }
  },

  async repositories(instance, token) {
    const url = `${apiUrl(instance.baseUrl)}/user/repos?limit=${pageSize}`
    const { entries, isTruncated } = await readPages({
      read: (page) => ask(instance, { url: `${url}&page=${page}`, token }),
      parse: (body) => parseResponse(Repositories, instance, { body }),
      countPages: ({ headers }, pageLength) => {
        const total = headers['x-total-count']
        return total === undefined ? null : Math.ceil(Number(total) / pageLength)
      },
      pageSize,
      maxEntries: maxRepositories,
    })
    return { repositories: newestFirst(entries), isTruncated }
  },
}

function apiUrl(baseUrl: string): string {
  return `${baseUrl}/api/v1`
}
