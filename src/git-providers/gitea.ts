// Gitea and Forgejo, with an access token or a token of an OAuth application.
import { z } from 'zod'
import { defineProvider, githubRepository } from './provider.ts'

export const gitea = defineProvider({
  apiUrl: (baseUrl) => `${baseUrl}/api/v1`,
  cloneUsername: 'oauth2',
  user: z.object({ login: z.string(), full_name: z.string().nullish() }),
  // Gitea reports neither the scopes nor the expiry of a token.
  toAccount: ({ login, full_name }) => ({ login, name: full_name || null, scopes: [], tokenExpiresAt: null }),
  list: {
    path: '/user/repos?limit=50',
    body: z.array(githubRepository(({ empty }) => !empty)),
    isSorted: false,
  },
})
