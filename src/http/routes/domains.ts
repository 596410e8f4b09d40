// The domains of a service.
import { z } from 'zod'
import { AddDomain, DomainParams, ServiceDomain } from '../../api/domains.ts'
import { ServiceParams } from '../../api/service.ts'
import * as domains from '../handlers/domains.ts'
import { del, get, post, tagged } from '../pipeline/route.ts'

export const domainRoutes = tagged('Domains', [
  get('/services/{id}/domains', {
    role: 'read',
    scope: 'service',
    summary: 'Lists the hosts of a service: the default one, then its domains',
    params: ServiceParams,
    response: z.array(ServiceDomain),
    handler: domains.listDomains,
  }),
  post('/services/{id}/domains', {
    summary: 'Adds a domain, effective immediately; adding it again changes only its redirect',
    description:
      'Adds a domain, effective immediately. Adding a domain that the service already has returns the same ' +
      'response: 201 with the domain. It changes `redirect_to`: without it the domain is not redirected.',
    params: ServiceParams,
    body: AddDomain,
    response: ServiceDomain,
    status: 201,
    problems: ['conflict'],
    handler: domains.addDomain,
  }),
  del('/services/{id}/domains/{domain}', {
    summary: 'Removes a domain, effective immediately',
    params: DomainParams,
    problems: ['conflict'],
    handler: domains.removeDomain,
  }),
])
