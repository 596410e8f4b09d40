// The certificate of a host: exactly the record of its chart, see machines/certificate.ts.
import { z } from 'zod'
import { failure } from './parts/failure.ts'
import { createdAt, id, identifier, nextAttemptAt, recorded, text, time } from './parts/fields.ts'

const certificateStatuses = [
  'checking',
  'ordering',
  'installing',
  'waiting',
  'valid',
  'expired',
  'released',
  'failed',
] as const

export const Certificate = z
  .object({
    id,
    service_id: text.describe("Null for the server's own host (`--dashboard-host`)."),
    host: z.string().describe('The host of the certificate.'),
    status: z
      .enum(certificateStatuses)
      .describe(
        'During a failing renewal, the status stays `valid` with an `error`, until the ' +
          'certificate is `expired`.',
      ),
    phase: z
      .enum(['checking', 'ordering', 'installing'])
      .nullable()
      .describe('The current step. It may be set while an earlier certificate is valid.'),
    error: text.describe('Why the last attempt failed.'),
    error_code: failure.error_code,
    hint: text.describe('What to do about the error.'),
    not_before: time.describe("Start of the installed certificate's validity; null without one."),
    not_after: time.describe("End of the installed certificate's validity; null without one."),
    next_attempt_at: nextAttemptAt,
    renews_at: time.describe('When two thirds of the lifetime have passed.'),
    attempts: z.int().describe('Failed attempts since the last certificate.'),
    fallback: z
      .boolean()
      .optional()
      .describe(
        'Wildcards only: it cannot be issued, and the hosts below it get their own certificates. ' +
          'Missing in records of older servers.',
      ),
    created_at: createdAt,
    ...recorded,
  })
  .meta({ id: 'Certificate', description: 'The certificate of a host.' })
export type Certificate = z.output<typeof Certificate>

export const CertificateAuthority = z
  .object({
    directory_url: text.describe('Null if certificates are not ordered.'),
    wildcard: text.describe('Host of the wildcard certificate; null without one.'),
    wildcard_by: z
      .enum(['hook', 'cloudflare'])
      .nullable()
      .describe('How DNS records for the wildcard are published; null without --acme-dns.'),
  })
  .meta({ id: 'CertificateAuthority', description: 'The certificate authority.' })
export type CertificateAuthority = z.output<typeof CertificateAuthority>

export const CertificateParams = z.object({ id: identifier.describe('Id of the certificate.') })
