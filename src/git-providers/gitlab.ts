// GitLab, with a personal access token or a token of an OAuth application.
import { z } from 'zod'
import { readPages } from './pages.ts'
import { ask, type Instance, maxRepositories, type Provider, type ProviderRepository } from './provider.ts'
import { ProviderRejection } from './request.ts'
import { optionalWebUrl, parseResponse, toTimestamp } from './response.ts'

const pageSize = 100

const User = z.object({ username: z.string(), name: z.string().nullish() })

/** `expires_at` is a day: the token ends at its start, in UTC. */
const PersonalAccessToken = z.object({
  scopes: z.array(z.string()).nullish(),
  expires_at: z.string().nullish(),
})

const Project = z
  .object({
    id: z.int(),
    path: z.string(),
    path_with_namespace: z.string(),
    namespace: z.object({ full_path: z.string() }),
    description: z.string().nullish(),
    visibility: z.string().nullish(),
    archived: z.boolean().nullish(),
    empty_repo: z.boolean().nullish(),
    default_branch: z.string().nullish(),
    http_url_to_repo: optionalWebUrl,
    web_url: optionalWebUrl,
    last_activity_at: z.string().nullish(),
  })
  .transform(
    (one): ProviderRepository => ({
      id: String(one.id),
      name: one.path,
      fullName: one.path_with_namespace,
      owner: one.namespace.full_path,
      description: one.description?.trim() || null,
      isPrivate: one.visibility !== 'public',
      isArchived: one.archived ?? false,
      defaultBranch: one.empty_repo ? null : (one.default_branch ?? null),
      cloneUrl: one.http_url_to_repo,
      webUrl: one.web_url,
      updatedAt: toTimestamp(one.last_activity_at),
    }),
  )
const Projects = z.array(Project)

export const gitlab: Provider = {
  apiUrl,
  cloneUsername: 'oauth2',

  async account(instance, token) {
    const api = apiUrl(instance.baseUrl)
    const response = await ask(instance, { url: `${api}/user`, token })
    const { username, name } = parseResponse(User, instance, response)
    const { scopes, expires_at } = await describeToken(instance, token)
    return {
      login: username,
      name: name ?? null,
      scopes: scopes ?? [],
      tokenExpiresAt: toTimestamp(expires_at),
    }
  },

  async repositories(instance, token) {
    const query = `membership=true&order_by=last_activity_at&sort=desc&per_page=${pageSize}`
    const url = `${apiUrl(instance.baseUrl)}/projects?${query}`
    const { entries, isTruncated } = await readPages({
      read: (page) => ask(instance, { url: `${url}&page=${page}`, token }),
      parse: (body) => parseResponse(Projects, instance, { body }),
      // GitLab omits the total for lists of more than 10,000 entries.
      countPages: ({ headers }) => Number(headers['x-total-pages']) || null,
      pageSize,
      maxEntries: maxRepositories,
    })
    return { repositories: entries, isTruncated }
  },
}

function apiUrl(baseUrl: string): string {
  return `${baseUrl}/api/v4`
}

/** Not every kind of token may ask about itself, so a refusal means unknown. */
async function describeToken(
  instance: Instance,
  token: string,
): Promise<z.output<typeof PersonalAccessToken>> {
  try {
    const url = `${apiUrl(instance.baseUrl)}/personal_access_tokens/self`
    return parseResponse(PersonalAccessToken, instance, await ask(instance, { url, token }))
  } catch (error) {
    if (error instanceof ProviderRejection) return {}
    throw error
  }
}
