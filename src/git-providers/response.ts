// Checks the body of a response against what the provider documents.
import { z } from 'zod'
import { Failure } from '../errors.ts'
import { type ProviderName, providerTitles } from './base-url.ts'

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
