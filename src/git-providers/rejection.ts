// What a rejection by a provider means. "Now" is an authorization that the user makes at this moment;
// "stored" is one that a connection has kept.
import { Failure, RejectedNow } from '../errors.ts'
import { type ProviderName, providerTitles } from './base-url.ts'
import { ProviderRejection } from './request.ts'

/** Why a stored authorization no longer works. */
export type InvalidReason = 'expired' | 'revoked' | 'uninstalled' | 'suspended'

/** Converts the rejection of a code, a token or an installation that the user just made. Others pass. */
export function toFailureNow(provider: ProviderName, error: unknown): unknown {
  if (!(error instanceof ProviderRejection)) return error
  // A rejected code is a 400 in OAuth, and a 404 or 422 for a manifest or an installation.
  if ([400, 401, 403, 404, 410, 422].includes(error.status)) return new RejectedNow(error.message)
  return new Failure('git_provider_unavailable', `${providerTitles[provider]}: ${error.message}`)
}

/** The same for a pasted token, where 404 means that the address has no such API. */
export function toTokenFailure(provider: ProviderName, error: unknown): unknown {
  if (error instanceof ProviderRejection && error.status === 404) {
    const title = providerTitles[provider]
    return new Failure(
      'invalid_request',
      `there is no ${title} at this address`,
      `--base-url is the address of your ${title}`,
    )
  }
  if (error instanceof ProviderRejection && error.status === 401) {
    return new RejectedNow(error.message, 'the token may be wrong, expired or revoked')
  }
  return toFailureNow(provider, error)
}

/** The reason why a stored authorization ended; null if the error does not mean that. */
export function invalidReasonOf(error: unknown, expiresAt: string | null): InvalidReason | null {
  if (!(error instanceof ProviderRejection)) return null
  const isExpired = expiresAt !== null && Date.parse(expiresAt) <= Date.now()
  if (error.status === 401) return isExpired ? 'expired' : 'revoked'
  if (error.status === 403 && /suspended/i.test(error.message)) return 'suspended'
  return null
}
