// Secrets of git connections, sealed: their tokens or the key of their app, and the OAuth applications of
// the server. They must not reach a log, an event or an actor.
import { openSealedTable, type Sealer } from './secrets.ts'
import type { Store } from './store/store.ts'

export type GitSecrets =
  | { kind: 'token'; token: string }
  | {
      kind: 'oauth'
      accessToken: string
      /** Null if the provider issued none. */
      refreshToken: string | null
      /** RFC 3339; null if the access token does not expire. */
      expiresAt: string | null
      /** Only the application that obtained a refresh token can renew it. */
      application: GitApplication
    }
  | {
      kind: 'app'
      appId: number
      clientId: string
      clientSecret: string
      privateKey: string
      /** Null if the app has no webhook. */
      webhookSecret: string | null
    }

/** An application that was registered at an instance of a provider for this server. */
export interface GitApplication {
  clientId: string
  clientSecret: string
}

export function openGitConnections(store: Store, sealer: Sealer) {
  const secrets = openSealedTable<GitSecrets>(store, sealer, 'git_secrets', 'git-connection')
  const applications = openSealedTable<GitApplication>(store, sealer, 'git_applications', 'git-application')
  const keyOf = (provider: string, baseUrl: string) => `${provider} ${baseUrl}`

  return {
    secrets: (id: string) => secrets.get(id),
    putSecretsWithin: secrets.put,
    putSecrets: (id: string, value: GitSecrets) => store.commit(() => secrets.put(id, value)),
    removeWithin: secrets.remove,
    application: (provider: string, baseUrl: string) => applications.get(keyOf(provider, baseUrl)),
    putApplicationWithin: (provider: string, baseUrl: string, value: GitApplication) =>
      applications.put(keyOf(provider, baseUrl), value),
  }
}

interface RepositoryCredentials {
  username: string
  password: string
  /** Scheme, host and port. The credentials are never sent to another origin. */
  origin: string
}

export function openCredentials(store: Store, sealer: Sealer) {
  const sealed = openSealedTable<RepositoryCredentials>(store, sealer, 'credentials', 'repository')

  return {
    get: sealed.get,
    /** Only inside a commit; null removes them. */
    put(serviceId: string, credentials: RepositoryCredentials | null): void {
      if (credentials) sealed.put(serviceId, credentials)
      else sealed.remove(serviceId)
    },
  }
}
