// GitLab, with a personal access token or a token of an OAuth application.
import { z } from 'zod'
import { defineProvider, optionalWebUrl, type ProviderRepository, toTimestamp } from './provider.ts'
import { ProviderRejection } from './request.ts'

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
    http_url_to_repo: optionalWebUrl.nullish(),
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
      cloneUrl: one.http_url_to_repo ?? '',
      webUrl: one.web_url,
      updatedAt: toTimestamp(one.last_activity_at),
    }),
  )

export const gitlab = defineProvider({
  apiUrl: (baseUrl) => `${baseUrl}/api/v4`,
  cloneUsername: 'oauth2',
  user: z.object({ username: z.string(), name: z.string().nullish() }),
  async toAccount({ username, name }, _, read) {
    // Not every kind of token may ask about itself, so a refusal means unknown.
    const token = await read('/personal_access_tokens/self', PersonalAccessToken).catch((error: unknown) => {
      if (error instanceof ProviderRejection) return {} as z.output<typeof PersonalAccessToken>
      throw error
    })
    const { scopes, expires_at } = token
    return {
      login: username,
      name: name ?? null,
      scopes: scopes ?? [],
      tokenExpiresAt: toTimestamp(expires_at),
    }
  },
  list: {
    path: '/projects?membership=true&order_by=last_activity_at&sort=desc&per_page=100',
    body: z.array(Project),
    isSorted: true,
  },
})
