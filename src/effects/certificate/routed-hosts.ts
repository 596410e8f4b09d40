// Which hosts need their own certificate, by owner.
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { isPublicHost, type Publication, servedHostsOf, wildcardOf } from '../../domain/domains.ts'

interface Parts {
  actors: Pick<Storage['actors'], 'active' | 'record'>
  services: Pick<Storage['services'], 'get' | 'list'>
  certificates: Pick<Storage['certificates'], 'isValid'>
}

/**
 * The hosts of a service, or with null those of the server itself. A service that is being deleted has none.
 * A wildcard of the base domain replaces the hosts below it; a host keeps its certificate until the wildcard
 * is installed. While the wildcard cannot be issued, the hosts below it need their own. A wildcard that is no
 * longer configured stays until each host below it has a certificate, or until it expires.
 */
export function createRoutedHosts(
  { actors, services, certificates }: Parts,
  publication: Publication,
  hasWildcard = false,
): (serviceId: string | null) => string[] {
  const { mode, dashboardHost } = publication.edge
  const wildcard = wildcardHostOf(publication, true)
  const isBelow = (host: string) => wildcard !== null && wildcardOf(host) === wildcard
  const isFailing = () => {
    const records = [...actors.active('certificate', '')].map(({ id }) => actors.record(id))
    return records.some((one) => one?.host === wildcard && one.fallback === true)
  }
  const isReplaced = (host: string) =>
    hasWildcard &&
    isBelow(host) &&
    (certificates.isValid(wildcard!) || !(certificates.isValid(host) || isFailing()))
  const hostsOf = (serviceId: string | null) => {
    if (serviceId === null) return mode === 'off' || dashboardHost === null ? [] : [dashboardHost]
    const row = services.get(serviceId)
    return row && !row.deleting ? servedHostsOf(row, publication) : []
  }
  const isLacking = (serviceId: string | null) =>
    hostsOf(serviceId).some((host) => isBelow(host) && !certificates.isValid(host))
  const isLastResort = () =>
    certificates.isValid(wildcard!) &&
    (isLacking(null) || services.list().some((row) => ordersCertificates(row) && isLacking(row.id)))
  return (serviceId) => {
    const ownHosts = hostsOf(serviceId).filter((host) => !isReplaced(host))
    const isWanted = serviceId === null && wildcard !== null && (hasWildcard || isLastResort())
    return isWanted ? [...ownHosts, wildcard] : ownHosts
  }
}

/** Authorities count certificates per week: a service that never worked must not use them up. */
export function ordersCertificates({ deleting, live_deploy_id }: ServiceRow): boolean {
  return !deleting && live_deploy_id !== null
}

/** Null if no authority would sign it, or no host would use it. */
export function wildcardHostOf({ baseDomain, edge }: Publication, hasWildcard: boolean): string | null {
  return hasWildcard && edge.mode !== 'off' && isPublicHost(baseDomain) ? `*.${baseDomain}` : null
}
