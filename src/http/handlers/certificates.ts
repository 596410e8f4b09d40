// Certificates. They are ordered automatically for every public host; the API lists and retries them.
import type { HistoryEntry, RecordOf } from '../../../storage/actors/actors.ts'
import { reachesService } from '../../account/rights.ts'
import type { Certificate, CertificateAuthority, CertificateParams } from '../../api/certificate.ts'
import { Failure, RetryLater } from '../../errors.ts'
import type { HttpContext, HttpStorage } from '../pipeline/context.ts'
import type { Call } from '../pipeline/route.ts'
import { command } from '../records/requester.ts'

/** The maximum number of certificates per service that are read, including released ones. */
const maxCertificates = 500

/** The newest certificate of each host, sorted by host. */
export function listCertificates({ context: { storage }, caller }: Call): Certificate[] {
  const owners = ['', ...storage.services.list().map(({ id }) => id)].filter((id) =>
    reachesService(caller, id),
  )
  const certificates = owners.flatMap((owner) => certificatesOf(storage, owner))
  return certificates.sort((a, b) => (a.host < b.host ? -1 : 1))
}

/** Contains domains of all services, so tokens that are limited to services may not read it. */
export function showAuthority({ context }: Call): CertificateAuthority {
  return context.certificateAuthority()
}

export function certificateHistory({ context, params }: Call<CertificateParams>): HistoryEntry[] {
  return context.storage.actors.history(findCertificate(context, params.id).id)
}

/** A certificate with an attempt in progress is returned unchanged. */
export async function retryCertificate(call: Call<CertificateParams>): Promise<Certificate> {
  const { context, params, eventId } = call
  const { id, status } = findCertificate(context, params.id)
  const options = eventId === undefined ? {} : { eventId }
  if (status === 'failed') await context.actors.spawn('certificate', id, {}, options)
  const event = command(call, 'retry')
  const { applied, record } = await context.actors.send<'certificate'>(id, event, options)
  const certificate = toCertificate(record)
  if (!applied) assertAttemptInProgress(certificate)
  return certificate
}

/** Throws `conflict` or `slow_down` unless an attempt is in progress. */
function assertAttemptInProgress({
  host,
  status,
  phase,
  error,
  next_attempt_at,
  renews_at,
}: Certificate): void {
  if (phase !== null || status === 'failed') return
  if (status === 'released') throw new Failure('conflict', `${host} is no longer served`)
  if (error === null) {
    throw new Failure('conflict', `the certificate of ${host} is valid: it is renewed at ${renews_at}`)
  }
  const seconds = Math.max(1, Math.ceil((Date.parse(next_attempt_at ?? '') - Date.now()) / 1000) || 1)
  throw new RetryLater('slow_down', `${error}: the next attempt is at ${next_attempt_at}`, seconds)
}

function certificatesOf({ actors }: HttpStorage, owner: string): Certificate[] {
  const records = actors.list('certificate', owner, maxCertificates).map(toCertificate)
  const current = records.filter(({ status }) => status !== 'released')
  return current.filter(({ host }, index) => current.findIndex((one) => one.host === host) === index)
}

/** Throws `not_found`, for actors of other kinds too. */
export function findCertificate({ storage }: HttpContext, id: string): Certificate {
  const record = id.startsWith('crt-') ? storage.actors.record<'certificate'>(id) : null
  if (!record) throw new Failure('not_found', 'there is no such certificate')
  return toCertificate(record)
}

/** The API does not show `finished_at`, which parking adds. */
function toCertificate(record: RecordOf<'certificate'>): Certificate {
  const { finished_at, ...shown } = record as typeof record & { finished_at?: string }
  return shown as Certificate
}
