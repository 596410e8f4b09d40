// The domains of a service, effective immediately. service-rules.ts refuses the host of another service.
import { z } from 'zod'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { AddDomain, DomainParams, ServiceDomain } from '../../api/domains.ts'
import { ServiceParams } from '../../api/service.ts'
import {
  defaultHost,
  hostsOf,
  isPublicType,
  normalizeDomain,
  originOf,
  redirectOf,
  wildcardOf,
} from '../../domain/domains.ts'
import { conflict, invalidRequest, notFound } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type Call, type CallById, del, get, post, tagged } from '../pipeline/route.ts'
import { findService, publicationOf } from '../records/service-record.ts'
import { changeService, checkRow } from '../rules/service-rules.ts'
import { readsService } from './record-routes.ts'

const maxCertificates = 200

export const domainRoutes = tagged('Domains', [
  get('/services/{id}/domains', {
    ...readsService,
    summary: 'Lists the hosts of a service: the default one, then its domains',
    response: z.array(ServiceDomain),
    handler({ context, params }) {
      const row = findService(context.storage, params.id)
      return hostsOf(row, context.config.baseDomain).map((host) => toDomain(context, row, host))
    },
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
    handler: addDomain,
  }),
  del('/services/{id}/domains/{domain}', {
    summary: 'Removes a domain, effective immediately',
    params: DomainParams,
    problems: ['conflict'],
    handler: removeDomain,
  }),
])

async function addDomain(call: CallById<unknown, AddDomain>): Promise<ServiceDomain> {
  const { context, params, body, eventId } = call
  const row = findService(context.storage, params.id)
  const domain = normalizeDomain(body.domain)
  const target = body.redirect_to === undefined ? null : normalizeDomain(body.redirect_to)
  const answer = (changed: ServiceRow) => toDomain(context, changed, domain)
  const isSame = (row.domain_redirects?.[domain] ?? null) === target
  if (row.custom_domains.includes(domain) && isSame && !row.deleting) {
    if (eventId) await context.storage.events.record(eventId, new Date().toISOString(), answer(row))
    return answer(row)
  }
  const withDomain = ({ custom_domains }: ServiceRow) => [...new Set([...custom_domains, domain])]
  const change = (row: ServiceRow) => {
    const changed = changedDomains(redirected(row, domain, target), withDomain(row))
    if (target !== null) assertTarget(context, changed, domain, target)
    return changed
  }
  return answer(await changeService(call, row.id, change, { response: answer }))
}

async function removeDomain(call: Call<DomainParams>): Promise<undefined> {
  const { context, params } = call
  const row = findService(context.storage, params.id)
  const domain = normalizeDomain(params.domain)
  if (isPublicType(row.type) && domain === defaultHost(row.name, context.config.baseDomain)) {
    throw conflict(`${domain} is the default address of ${row.name}: it cannot be removed`)
  }
  await changeService(call, row.id, (row) => {
    if (!row.custom_domains.includes(domain)) {
      throw notFound(`${row.name} has no domain ${domain}`, `berth domains ${row.name} lists them`)
    }
    return changedDomains(
      redirected(row, domain, null),
      row.custom_domains.filter((one) => one !== domain),
    )
  })
}

function redirected(row: ServiceRow, domain: string, target: string | null): ServiceRow {
  const { [domain]: _, ...others } = row.domain_redirects ?? {}
  return { ...row, domain_redirects: target === null ? others : { ...others, [domain]: target } }
}

/** A target that is not redirected itself: so redirects never form a circle. */
function assertTarget({ config }: HttpContext, row: ServiceRow, domain: string, target: string): void {
  if (!hostsOf(row, config.baseDomain).includes(target)) {
    const hint = `add it first: berth domains add ${row.name} ${target}`
    throw invalidRequest(`${target} is no domain of ${row.name}`, hint)
  }
  if (target !== domain && row.domain_redirects?.[target] === undefined) return
  throw invalidRequest(`${domain} cannot be redirected to ${target}, which is redirected too`)
}

/** Throws `invalid_request` if the service cannot have domains, or has too many. */
function changedDomains(row: ServiceRow, custom_domains: string[]): ServiceRow {
  const changed = { ...row, custom_domains, updated_at: new Date().toISOString() }
  checkRow(changed)
  return changed
}

function toDomain(context: HttpContext, row: ServiceRow, domain: string): ServiceDomain {
  const { config, hasCertificate, storage } = context
  return {
    domain,
    service_id: row.id,
    kind: row.custom_domains.includes(domain) ? 'custom' : 'default',
    url: config.edge.mode === 'off' ? null : originOf(domain, publicationOf(context)),
    redirect_to: redirectOf(row, domain, config.baseDomain),
    https: hasCertificate(domain),
    certificate: certificateOf(storage, row.id, domain) ?? certificateOf(storage, '', wildcardOf(domain)),
  }
}

function certificateOf({ actors }: Storage, serviceId: string, host: string) {
  const records = actors.list('certificate', serviceId, maxCertificates)
  const record = records.find((one) => one.host === host && one.status !== 'released')
  return record ? { status: record.status, error: record.error, not_after: record.not_after } : null
}
