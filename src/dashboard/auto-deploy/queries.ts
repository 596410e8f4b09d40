// What pages read of the repository of a service and its pushes, besides the service.
import { queryOptions } from '@tanstack/react-query'
import type { DeployKey } from '../../api/deploy-key.ts'
import type { Delivery } from '../../api/hook.ts'
import type { Service } from '../../api/service.ts'
import { get } from '../api/client.ts'
import { listQuery } from '../api/list.ts'

export function deliveriesQuery(serviceId: string) {
  return listQuery<Delivery>(['service', serviceId, 'deliveries'], `/services/${serviceId}/deliveries`)
}

/** A new key raises the revision of its service; a pinned one of a host is not announced. */
export function deployKeyQuery({ id, revision }: Pick<Service, 'id' | 'revision'>) {
  return queryOptions({
    queryKey: ['service', id, 'deploy key', revision],
    queryFn: get<DeployKey>(`/services/${id}/deploy-key`),
    refetchOnMount: 'always',
    refetchOnWindowFocus: 'always',
    placeholderData: (shown) => shown,
  })
}
