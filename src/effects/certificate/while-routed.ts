// Work for a host that ends with its route: a service that is removed must not wait for a CA.
// Mind: nothing of it stays on the outer signal, or on the change feed.
import { Failure } from '../../errors.ts'
import type { CertificateHost } from './ports.ts'

type Routed = Pick<CertificateHost, 'routedHosts' | 'storage'>

/** The work's signal ends with the outer one, or with `host_unrouted` as soon as nobody serves the host. */
export async function whileRouted<T>(
  { routedHosts, storage }: Routed,
  { serviceId, host }: { serviceId: string | null; host: string },
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const onAbort = () => controller.abort(outer.reason)
  const look = () => {
    if (routedHosts(serviceId).includes(host)) return
    controller.abort(new Failure('host_unrouted', `${host} is not served any more`))
  }
  const unsubscribe = storage.changes.subscribe((change) => {
    if (change.kind === 'service' && change.service_id === serviceId) look()
  })
  outer.addEventListener('abort', onAbort)
  if (outer.aborted) onAbort()
  else look()
  try {
    return await work(controller.signal)
  } finally {
    unsubscribe()
    outer.removeEventListener('abort', onAbort)
  }
}
