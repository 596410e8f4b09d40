// What every provider offers: the account of a token, its repositories, and for some an OAuth flow. The
// functions are stateless; what they need comes with each call.
import type { HostRules } from '../git/remote-host.ts'
import { type ProviderName, providerTitles } from './base-url.ts'
import { type ProviderRequest, type ProviderResponse, requestProvider } from './request.ts'

/** An instance of a provider. */
export interface Instance {
  provider: ProviderName
  /** In the normal form of `parseBaseUrl`. */
  baseUrl: string
  hostRules: HostRules
}

/** The account that a token belongs to. */
export interface Account {
  login: string
  name: string | null
  /** Empty if the provider does not report them. */
  scopes: string[]
  /** RFC 3339; null if it does not expire or the provider does not report it. */
  tokenExpiresAt: string | null
}

export interface ProviderRepository {
  id: string
  name: string
  fullName: string
  owner: string
  description: string | null
  isPrivate: boolean
  isArchived: boolean
  /** Null for a repository without commits. */
  defaultBranch: string | null
  cloneUrl: string
  webUrl: string
  updatedAt: string | null
}

export interface RepositoryList {
  /** At most 1000, most recently updated first. */
  repositories: ProviderRepository[]
  /** Whether there are more. */
  isTruncated: boolean
}

export interface Provider {
  /** The address of the instance's API. */
  apiUrl(baseUrl: string): string
  /** The user name with which a token clones over HTTP. */
  cloneUsername: string
  account(instance: Instance, token: string): Promise<Account>
  repositories(instance: Instance, token: string): Promise<RepositoryList>
}

export const maxRepositories = 1000

/** For providers that do not sort their lists. */
export function newestFirst(repositories: ProviderRepository[]): ProviderRepository[] {
  const at = ({ updatedAt }: ProviderRepository) => updatedAt ?? ''
  return repositories.sort((one, other) => (at(one) === at(other) ? 0 : at(one) > at(other) ? -1 : 1))
}

/** Sends a request to the instance. `url` is absolute. */
export function ask({ provider, hostRules }: Instance, request: ProviderRequest): Promise<ProviderResponse> {
  return requestProvider(providerTitles[provider], hostRules, request)
}
