// The certificate of a host: its progress, and what prevents further progress. This is exactly the record of
// its chart, see machines/certificate/certificate.ts.
import { z } from 'zod'
import { failure } from './parts/failure.ts'
import { identifier, timestamp } from './parts/fields.ts'
import { recorded } from './parts/recorded.ts'

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

const text = z.string().nullable()

export const Certificate = z
  .object({
    id: z.string(),
    service_id: text.meta({ description: 'Null for the host of the dashboard.' }),
    host: z.string(),
    status: z.enum(certificateStatuses).meta({
      description:
        'During a failing renewal, the status stays `valid` with an `error`, until the ' +
        'certificate is `expired`.',
    }),
    phase: z.enum(['checking', 'ordering', 'installing']).nullable().meta({
      description: 'The current step. It may be set while an earlier certificate is valid.',
    }),
    error: text.meta({ description: 'Why the last attempt failed.' }),
    error_code: failure.error_code,
    hint: text.meta({ description: 'What to do about the error.' }),
    not_before: timestamp.nullable(),
    not_after: timestamp.nullable(),
    next_attempt_at: timestamp.nullable(),
    renews_at: timestamp.nullable().meta({ description: 'When two thirds of the lifetime have passed.' }),
    attempts: z.int().meta({ description: 'Failed attempts since the last certificate.' }),
    fallback: z
      .boolean()
      .optional()
      .meta({
        description:
          'Wildcards only: it cannot be issued, and the hosts below it get their own certificates. ' +
          'Missing in records of older servers.',
      }),
    created_at: timestamp,
    ...recorded,
  })
  .meta({ id: 'Certificate' })
export type Certificate = z.output<typeof Certificate>

export const CertificateAuthority = z
  .object({
    directory_url: text.meta({ description: 'Null if certificates are not ordered.' }),
    wildcard: text.meta({ description: 'Host of the wildcard certificate; null without one.' }),
    wildcard_by: z
      .enum(['hook', 'rfc2136', 'cloudflare'])
      .nullable()
      .meta({ description: 'How DNS records for the wildcard are published; null without --acme-dns.' }),
  })
  .meta({ id: 'CertificateAuthority' })
export type CertificateAuthority = z.output<typeof CertificateAuthority>

export const CertificateParams = z.object({ id: identifier.meta({ description: 'Id of the certificate.' }) })
export type CertificateParams = z.output<typeof CertificateParams>
