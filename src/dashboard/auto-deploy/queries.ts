// What pages read of automatic deploys, besides the service.
import type { Delivery } from '../../api/hook.ts'
import { listQuery } from '../api/list.ts'

export function deliveriesQuery(serviceId: string) {
  return listQuery<Delivery>(['service', serviceId, 'deliveries'], `/services/${serviceId}/deliveries`)
}
