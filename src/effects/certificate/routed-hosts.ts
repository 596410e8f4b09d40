// Which hosts want a certificate of their own, by who they belong to.
import type { Storage } from '../../../storage/index.ts'
import { isPublicHost, type Publication, servedHostsOf, wildcardOf } from '../../hosts.ts'

interface Parts {
  services: Pick<Storage['services'], 'get'>
  certificates: Pick<Storage['certificates'], 'isValid'>
}

/**
 * Of a service, or with null of the server itself. A service that goes has none any more. A wildcard of the
 * base domain replaces the hosts below it; a host with a certificate keeps it until the wildcard has one.
 */
export function createRoutedHosts(
  { services, certificates }: Parts,
  publication: Publication,
  hasWildcard = false,
): (serviceId: string | null) => string[] {
  const { mode, dashboardHost } = publication.edge
  const wildcard = wildcardHostOf(publication, hasWildcard)
  const isReplaced = (host: string) =>
    wildcardOf(host) === wildcard && (certificates.isValid(wildcard) || !certificates.isValid(host))
  const hostsOf = (serviceId: string | null) => {
    if (serviceId === null) return mode === 'off' || dashboardHost === null ? [] : [dashboardHost]
    const row = services.get(serviceId)
    return row && !row.deleting ? servedHostsOf(row, publication) : []
  }
  return (serviceId) => {
    const own = hostsOf(serviceId).filter((host) => !isReplaced(host))
    return serviceId === null && wildcard !== null ? [...own, wildcard] : own
  }
}

/** null where no authority would sign it, or nobody would be served with it. */
export function wildcardHostOf({ baseDomain, edge }: Publication, hasWildcard: boolean): string | null {
  return hasWildcard && edge.mode !== 'off' && isPublicHost(baseDomain) ? `*.${baseDomain}` : null
}
