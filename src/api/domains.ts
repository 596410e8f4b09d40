// The hosts of a service, each with the state of its HTTPS. Domains are normalized and validated
// in src/domain/domains.ts.
import { z } from 'zod'
import { identifier, timestamp } from './parts/fields.ts'

/** Accepts domains as people type them, with umlauts, capitals and a trailing dot. */
export const Domain = z.string().min(1).max(1024)

export const AddDomain = z
  .strictObject({
    domain: Domain.meta({ description: 'A host name, such as shop.example.com.' }),
    redirect_to: Domain.optional().meta({
      description: 'Another host of the service, to which requests for this domain are redirected.',
    }),
  })
  .meta({ id: 'AddDomain' })
export type AddDomain = z.output<typeof AddDomain>

export const DomainParams = z.object({
  id: identifier.meta({ description: 'Id or name of the service.' }),
  domain: Domain.meta({ description: 'A custom domain of the service.' }),
})
export type DomainParams = z.output<typeof DomainParams>

export const ServiceDomain = z
  .object({
    domain: z.string(),
    service_id: z.string(),
    kind: z
      .enum(['default', 'custom'])
      .meta({ description: 'The default host is derived from the name of the service.' }),
    url: z.string().nullable().meta({ description: 'Null while the server has no edge.' }),
    redirect_to: z
      .string()
      .nullable()
      .meta({ description: 'The host to which its requests are redirected.' }),
    https: z.boolean().meta({ description: 'Whether the host has a valid certificate.' }),
    certificate: z
      .object({ status: z.string(), error: z.string().nullable(), not_after: timestamp.nullable() })
      .nullable()
      .meta({ description: 'Null for a host without a certificate, or before the service is first live.' }),
  })
  .meta({ id: 'ServiceDomain' })
export type ServiceDomain = z.output<typeof ServiceDomain>
