// Certificates of public hosts. They are ordered automatically; the API lists and retries them.
import { z } from 'zod'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import { reachesService } from '../../account/rights.ts'
import { Certificate, CertificateAuthority, CertificateParams } from '../../api/certificate.ts'
import { conflict, RetryLater } from '../../errors.ts'
import { type CallById, get, post, tagged } from '../pipeline/route.ts'
import { command } from '../records/requester.ts'
import { finder } from '../records/stored-record.ts'
import { recordRoutes } from './record-routes.ts'

const maxCertificates = 500
const findRecord = finder<'certificate'>('crt', 'certificate')

export const certificateRoutes = tagged('Certificates', [
  get('/certificates', {
    role: 'read',
    scope: 'filtered',
    summary: 'Lists the certificates of all hosts, with their state and the reason of a failure',
    response: z.array(Certificate),
    handler({ context: { storage }, caller }) {
      const owners = ['', ...storage.services.list().map(({ id }) => id)].filter((id) =>
        reachesService(caller, id),
      )
      const certificates = owners.flatMap((owner) => certificatesOf(storage, owner))
      return certificates.sort((a, b) => (a.host < b.host ? -1 : 1))
    },
  }),
  get('/certificate-authority', {
    role: 'read',
    summary: 'Shows the certificate authority and the wildcard certificate',
    response: CertificateAuthority,
    // Contains domains of all services, so tokens that are limited to services may not read it.
    handler: ({ context }) => context.certificateAuthority(),
  }),
  post('/certificates/{id}/retry', {
    summary: 'Starts the next attempt immediately, unless the CA requires a pause',
    params: CertificateParams,
    response: Certificate,
    status: 202,
    problems: ['conflict', 'slow_down'],
    handler: retryCertificate,
  }),
  ...recordRoutes('/certificates/{id}', {
    noun: 'a certificate',
    params: CertificateParams,
    scope: 'record',
    find: findCertificate,
    why: {
      advise: ({ hint }) => (hint === null ? null : { hint, commands: [] }),
      summary: 'Explains why there is no new certificate, and what to do about it',
    },
  }),
])

/** A certificate with an attempt in progress is returned unchanged. */
async function retryCertificate(call: CallById): Promise<Certificate> {
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
  if (status === 'released') throw conflict(`${host} is no longer served`)
  if (error === null) throw conflict(`the certificate of ${host} is valid: it is renewed at ${renews_at}`)
  const seconds = Math.max(1, Math.ceil((Date.parse(next_attempt_at ?? '') - Date.now()) / 1000) || 1)
  throw new RetryLater('slow_down', `${error}: the next attempt is at ${next_attempt_at}`, seconds)
}

function certificatesOf({ actors }: Storage, owner: string): Certificate[] {
  const records = actors.list('certificate', owner, maxCertificates).map(toCertificate)
  const current = records.filter(({ status }) => status !== 'released')
  return current.filter(({ host }, index) => current.findIndex((one) => one.host === host) === index)
}

function findCertificate(storage: Storage, id: string): Certificate {
  return toCertificate(findRecord(storage, id))
}

/** The API does not show `finished_at`, which parking adds. */
function toCertificate(record: RecordOf<'certificate'>): Certificate {
  const { finished_at, ...shown } = record as typeof record & { finished_at?: string }
  return shown as Certificate
}
