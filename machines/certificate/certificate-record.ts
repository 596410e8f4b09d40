import { toErrorCode } from '../error-codes.ts'
import { type CertificateSnapshot, renewalOf } from './certificate.ts'

/** Failed attempts after which the hosts below a wildcard get certificates of their own. */
const fallbackAfter = 3
/** Failures of a wildcard's order that orders for single hosts may not have. */
const wildcardFailures = ['dns_failed', 'acme_rejected', 'acme_challenge_failed']
const fallbackNotice = 'until it is issued, the hosts below it get certificates of their own'

export function toRecord(snapshot: CertificateSnapshot) {
  const { id, serviceId, host, validity, trouble, nextAttemptAt, attempts, at } = snapshot.context
  const isWorking = ['checking', 'ordering', 'installing'].includes(snapshot.value)
  const fallback = fallsBack(snapshot, isWorking ? attempts - 1 : attempts)
  return {
    id,
    service_id: serviceId,
    host,
    status: statusOf(snapshot),
    /** The current step, also while an older certificate is valid. */
    phase: isWorking ? snapshot.value : null,
    error: trouble && (fallback ? `${trouble.message}; ${fallbackNotice}` : trouble.message),
    error_code: trouble && toErrorCode(trouble.code),
    hint: trouble?.hint ?? null,
    not_before: validity?.notBefore ?? null,
    not_after: validity?.notAfter ?? null,
    next_attempt_at: nextAttemptAt,
    renews_at: validity && renewalOf(validity),
    attempts,
    fallback,
    created_at: at,
  }
}

/** Whether the hosts below a missing or expired wildcard get their own certificates. */
function fallsBack({ context }: CertificateSnapshot, failures: number): boolean {
  const { host, trouble, validity, isExpired } = context
  const isMissing = host.startsWith('*.') && (validity === null || isExpired)
  return isMissing && failures >= fallbackAfter && wildcardFailures.includes(trouble?.code ?? '')
}

export type CertificateRecord = ReturnType<typeof toRecord>

function statusOf({ value, context }: CertificateSnapshot) {
  if (value === 'releasing' || value === 'released') return 'released'
  if (context.isExpired) return 'expired'
  if (value === 'waiting' && !context.validity) return 'waiting'
  return context.validity ? 'valid' : value
}
