// The hosts of a service, each with the state of its HTTPS. src/domain/domains.ts validates domains.
import { z } from 'zod'
import { identifier, serviceId, text, time } from './parts/fields.ts'

/** Accepts domains as people type them, with umlauts, capitals and a trailing dot. */
export const Domain = z.string().min(1).max(1024)

export const AddDomain = z
  .strictObject({
    domain: Domain.describe('A host name, such as shop.example.com.'),
    redirect_to: Domain.optional().describe(
      'Another host of the service, to which requests for this domain are redirected.',
    ),
  })
  .meta({ id: 'AddDomain', description: 'A domain for a service.' })
export type AddDomain = z.output<typeof AddDomain>

export const DomainParams = z.object({
  id: identifier.describe('Id or name of the service.'),
  domain: Domain.describe('A custom domain of the service.'),
})
export type DomainParams = z.output<typeof DomainParams>

export const ServiceDomain = z
  .object({
    domain: z.string().describe('The host.'),
    service_id: serviceId,
    kind: z.enum(['default', 'custom']).describe('The default host is derived from the name of the service.'),
    url: text.describe('Null while the server has no edge.'),
    redirect_to: text.describe('The host to which its requests are redirected.'),
    https: z.boolean().describe('Whether the host has a valid certificate.'),
    certificate: z
      .object({
        status: z.string().describe('The status of its certificate.'),
        error: text.describe('Why it has no certificate, or why the renewal failed.'),
        not_after: time.describe('When its certificate expires.'),
      })
      .nullable()
      .describe('Null for a host without a certificate, or before the service is first live.'),
  })
  .meta({ id: 'ServiceDomain', description: 'A host of a service.' })
export type ServiceDomain = z.output<typeof ServiceDomain>
