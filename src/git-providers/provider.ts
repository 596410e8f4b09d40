// What every provider offers. A provider declares its addresses and the form of its responses; reading pages
// and checking responses is the same for all.
import { z } from 'zod'
import { Failure } from '../errors.ts'
import type { HostRules } from '../git/remote-host.ts'
import { type ProviderName, providerTitles } from './base-url.ts'
import { type ProviderRequest, type ProviderResponse, requestProvider } from './request.ts'

export interface Instance {
  provider: ProviderName
  /** In the normal form of `parseBaseUrl`. */
  baseUrl: string
  hostRules: HostRules
}

interface Account {
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
  isTruncated: boolean
}

export interface Provider {
  apiUrl(baseUrl: string): string
  /** The user name with which a token clones over HTTP. */
  cloneUsername: string
  account(instance: Instance, token: string): Promise<Account>
  repositories(instance: Instance, token: string): Promise<RepositoryList>
}

/** A list of repositories in the API of a provider. */
interface Source {
  /** Below the address of the API, with the size of a page. */
  path: string
  body: z.ZodType<ProviderRepository[]>
  /** Whether the provider sorts it, most recently updated first. */
  isSorted: boolean
}

interface Definition<User> extends Pick<Provider, 'apiUrl' | 'cloneUsername'> {
  user: z.ZodType<User>
  toAccount(
    user: User,
    response: ProviderResponse,
    read: <Body>(path: string, body: z.ZodType<Body>) => Promise<Body>,
  ): Account | Promise<Account>
  list: Source
}

export function defineProvider<User>({ user, toAccount, list, ...shared }: Definition<User>): Provider {
  return {
    ...shared,
    async account(instance, token) {
      const askFor = (path: string) =>
        ask(instance, { url: `${shared.apiUrl(instance.baseUrl)}${path}`, token })
      const response = await askFor('/user')
      return toAccount(parseResponse(user, instance, response), response, async (path, body) =>
        parseResponse(body, instance, await askFor(path)),
      )
    },
    repositories: (instance, token) => readRepositories(instance, shared.apiUrl, token, list),
  }
}

const maxRepositories = 1000
/** Of an unsorted list more is read, because the newest may be anywhere. */
const maxUnsorted = 5000

/**
 * Up to a page without another repository, because an instance may have a smaller page than the requested
 * one. A repository that is updated between two requests moves, and may be on both pages.
 */
export async function readRepositories(
  instance: Instance,
  apiUrl: Provider['apiUrl'],
  token: string,
  { path, body, isSorted }: Source,
): Promise<RepositoryList> {
  const byId = new Map<string, ProviderRepository>()
  const most = isSorted ? maxRepositories : maxUnsorted
  for (let page = 1; byId.size <= most; page++) {
    const url = `${apiUrl(instance.baseUrl)}${path}&page=${page}`
    const entries = parseResponse(body, instance, await ask(instance, { url, token }))
    const before = byId.size
    for (const entry of entries) byId.set(entry.id, entry)
    if (byId.size === before) break
  }
  const all = isSorted ? [...byId.values()] : newestFirst([...byId.values()])
  return { repositories: all.slice(0, maxRepositories), isTruncated: all.length > maxRepositories }
}

function newestFirst(repositories: ProviderRepository[]): ProviderRepository[] {
  const at = ({ updatedAt }: ProviderRepository) => updatedAt ?? ''
  return repositories.sort((one, other) => (at(one) === at(other) ? 0 : at(one) > at(other) ? -1 : 1))
}

/** Sends a request to the instance. `url` is absolute. */
export function ask({ provider, hostRules }: Instance, request: ProviderRequest): Promise<ProviderResponse> {
  return requestProvider(providerTitles[provider], hostRules, request)
}

/** Throws `git_provider_unavailable` for a body that the provider's documentation does not describe. */
export function parseResponse<Schema extends z.ZodType>(
  schema: Schema,
  { provider, baseUrl }: { provider: ProviderName; baseUrl: string },
  { body }: { body: unknown },
): z.output<Schema> {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const field = parsed.error.issues[0]?.path.join('.') || 'the body'
  const sender = `${providerTitles[provider]} at ${new URL(baseUrl).host}`
  const text = `${sender} sent an unexpected response (${field})`
  throw new Failure('git_provider_unavailable', text)
}

/** An address that a browser may open. Providers are untrusted: `javascript:` is an address too. */
export const webUrl = z.string().refine(isWebUrl)

/** The address, or an empty text for one that no browser may open. */
export const optionalWebUrl = z.string().transform((url) => (isWebUrl(url) ? url : ''))

function isWebUrl(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url)
}

/** RFC 3339 in UTC with milliseconds; null for anything that is not a time. */
export function toTimestamp(text: string | null | undefined): string | null {
  const at = Date.parse(text ?? '')
  return Number.isNaN(at) ? null : new Date(at).toISOString()
}

const text = z.string().nullish()
const flag = z.boolean().nullish()

const GithubRepository = z.object({
  id: z.int(),
  name: z.string(),
  full_name: z.string(),
  owner: z.object({ login: z.string() }),
  description: text,
  private: z.boolean(),
  visibility: text,
  internal: flag,
  archived: flag,
  empty: flag,
  default_branch: text,
  clone_url: optionalWebUrl,
  html_url: optionalWebUrl,
  pushed_at: text,
  updated_at: text,
})

/** A repository as GitHub describes it, and Gitea after its example. */
export function githubRepository(hasCommits: (one: z.output<typeof GithubRepository>) => boolean) {
  return GithubRepository.transform(
    (one): ProviderRepository => ({
      id: String(one.id),
      name: one.name,
      fullName: one.full_name,
      owner: one.owner.login,
      description: one.description?.trim() || null,
      isPrivate: one.private || one.internal === true || (one.visibility ?? 'public') !== 'public',
      isArchived: one.archived ?? false,
      defaultBranch: hasCommits(one) ? (one.default_branch ?? null) : null,
      cloneUrl: one.clone_url,
      webUrl: one.html_url,
      updatedAt: toTimestamp(one.pushed_at ?? one.updated_at),
    }),
  )
}
