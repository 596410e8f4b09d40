// The address of a provider's instance, in one normal form, so that equal instances compare as equal.
import { type Failure, invalidField } from '../errors.ts'

export type ProviderName = 'github' | 'gitlab' | 'gitea'

export const providerTitles: Record<ProviderName, string> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  gitea: 'Gitea',
}

/** Gitea and Forgejo have no instance that most users mean. */
const defaultBaseUrls: Record<ProviderName, string | null> = {
  github: 'https://github.com',
  gitlab: 'https://gitlab.com',
  gitea: null,
}

const maxLength = 2048

/**
 * Lower-case scheme and host, no default port, no trailing slash; a path is kept. A host alone means https.
 * Throws `invalid_request`.
 */
export function parseBaseUrl(provider: ProviderName, text: string | null | undefined): string {
  const trimmed = text?.trim() ?? ''
  if (trimmed === '') return defaultBaseUrlOf(provider)
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`
  if (trimmed.length > maxLength || !URL.canParse(whole)) throw invalid('is not a valid URL')
  const url = new URL(whole)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw invalid('must start with https:// or http://')
  if (url.username !== '' || url.password !== '') throw invalid('must not contain credentials')
  if (url.search !== '' || url.hash !== '') throw invalid('must not contain a query or a fragment')
  if (!hostPattern.test(url.hostname)) throw invalid('has an invalid host name')
  const official = officialHosts[url.hostname]
  return official ?? `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

/** Other host names and plain http lead to the same instance, but a token must not go there in clear text. */
const officialHosts: Record<string, string> = {
  'github.com': 'https://github.com',
  'www.github.com': 'https://github.com',
  'api.github.com': 'https://github.com',
  'gitlab.com': 'https://gitlab.com',
  'www.gitlab.com': 'https://gitlab.com',
}
/** URLs allow more, such as a semicolon, which would end a directive of a Content-Security-Policy. */
const hostPattern = /^(?:[a-z0-9_](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/

function defaultBaseUrlOf(provider: ProviderName): string {
  const url = defaultBaseUrls[provider]
  if (url === null) throw invalid(`is required: the address of your ${providerTitles[provider]}`)
  return url
}

function invalid(problem: string): Failure {
  return invalidField('base_url', problem)
}
