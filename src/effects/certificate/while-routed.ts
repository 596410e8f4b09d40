// Work for a host that ends with its route: a service that is removed must not wait for a CA.
import { withLinkedSignal } from '../../async/linked-signal.ts'
import { Failure } from '../../errors.ts'
import type { CertificatePorts } from './ports.ts'

type Routed = Pick<CertificatePorts, 'routedHosts' | 'storage'>

/**
 * The signal of the work is aborted with the outer one, or with `host_unrouted` once the host is not routed.
 */
export function whileRouted<T>(
  { routedHosts, storage }: Routed,
  { serviceId, host }: { serviceId: string | null; host: string },
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const watch = (end: (reason: unknown) => void) => {
    const look = () => {
      if (routedHosts(serviceId).includes(host)) return
      end(new Failure('host_unrouted', `${host} is no longer served`))
    }
    look()
    return storage.changes.subscribe((change) => {
      if (change.kind === 'service' && change.service_id === serviceId) look()
    })
  }
  return withLinkedSignal(outer, watch, work)
}
