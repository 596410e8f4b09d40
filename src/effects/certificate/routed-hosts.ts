// Which hosts the edge answers for, by who they belong to.
import type { Storage } from '../../../storage/index.ts'
import { type Publication, servedHostsOf } from '../../hosts.ts'

/** Of a service, or with null of the server itself. A service that goes has none any more. */
export function createRoutedHosts(
  storage: { services: Pick<Storage['services'], 'get'> },
  publication: Publication,
): (serviceId: string | null) => string[] {
  const { mode, dashboardHost } = publication.edge
  return (serviceId) => {
    if (serviceId === null) return mode === 'off' || dashboardHost === null ? [] : [dashboardHost]
    const row = storage.services.get(serviceId)
    return row && !row.deleting ? servedHostsOf(row, publication) : []
  }
}
