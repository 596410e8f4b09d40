// Certificates. They are ordered automatically for every public host; the API lists and retries them.
import type { RecordOf } from '../../../storage/actors/actors.ts'
import { reachesService } from '../../account/rights.ts'
import type { Certificate, CertificateAuthority } from '../../api/certificate.ts'
import { Failure, RetryLater } from '../../errors.ts'
import type { HttpStorage } from '../pipeline/context.ts'
import type { Call, CallById } from '../pipeline/route.ts'
import { command } from '../records/requester.ts'
import { finder } from '../records/stored-record.ts'

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

/** A certificate with an attempt in progress is returned unchanged. */
export async function retryCertificate(call: CallById): Promise<Certificate> {
  const { context, params, eventId } = call
  const { id, status } = findCertificate(context.storage, params.id)
  const options = { eventId }
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

const findRecord = finder<'certificate'>('crt', 'certificate')

export function findCertificate(storage: HttpStorage, id: string): Certificate {
  return toCertificate(findRecord(storage, id))
}

/** The API does not show `finished_at`, which parking adds. */
function toCertificate(record: RecordOf<'certificate'>): Certificate {
  const { finished_at, ...shown } = record as typeof record & { finished_at?: string }
  return shown as Certificate
}
