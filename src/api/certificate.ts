// The certificate of a host: how far it is, and why not further.
// This is the record of its chart, word for word; machines/certificate/certificate.ts makes it.
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
    service_id: text.meta({ description: "null for the dashboard's host." }),
    host: z.string(),
    status: z.enum(certificateStatuses).meta({
      description: 'While a renewal fails it stays `valid`, with an `error`, until it is `expired`.',
    }),
    phase: z.enum(['checking', 'ordering', 'installing']).nullable().meta({
      description: 'What is done just now, also while a former certificate is valid.',
    }),
    error: text.meta({ description: 'Why the last attempt failed.' }),
    error_code: failure.error_code,
    hint: text.meta({ description: 'What would help.' }),
    not_before: timestamp.nullable(),
    not_after: timestamp.nullable(),
    next_attempt_at: timestamp.nullable(),
    renews_at: timestamp.nullable().meta({ description: 'At two thirds of its life.' }),
    attempts: z.int().meta({ description: 'Since the last certificate.' }),
    fallback: z
      .boolean()
      .optional()
      .meta({
        description:
          'Of a wildcard: it cannot be issued, and the hosts below it get certificates of their own. ' +
          'Missing in records of older servers.',
      }),
    created_at: timestamp,
    ...recorded,
  })
  .meta({ id: 'Certificate' })
export type Certificate = z.output<typeof Certificate>

const DomainUsage = z
  .object({
    domain: z.string().meta({ description: 'A registered domain, such as example.com.' }),
    issued: z.int().meta({ description: 'New certificates of the last seven days; renewals do not count.' }),
    remaining: z
      .int()
      .nullable()
      .meta({ description: 'How many new hosts can be ordered now; null without a limit.' }),
    next_order_at: timestamp.nullable().meta({ description: 'null when a new host can be ordered now.' }),
    reason: text.meta({ description: 'Why no new host can be ordered now.' }),
  })
  .meta({ id: 'DomainUsage' })

export const CertificateAuthority = z
  .object({
    directory_url: text.meta({ description: 'null while no certificates are ordered.' }),
    weekly_limit: z
      .int()
      .nullable()
      .meta({ description: 'New certificates a week per registered domain; null without a limit.' }),
    wildcard: text.meta({ description: 'The host of the wildcard certificate; null without one.' }),
    wildcard_by: z
      .enum(['hook', 'rfc2136', 'cloudflare'])
      .nullable()
      .meta({ description: 'How the zone is changed to prove the wildcard; null without --acme-dns.' }),
    domains: z.array(DomainUsage).meta({ description: 'Domains with new certificates, or a pause.' }),
  })
  .meta({ id: 'CertificateAuthority' })
export type CertificateAuthority = z.output<typeof CertificateAuthority>

export const CertificateParams = z.object({ id: identifier.meta({ description: 'Id of a certificate.' }) })
export type CertificateParams = z.output<typeof CertificateParams>
