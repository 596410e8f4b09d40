// The effects of a certificate: check the host, order, renew, watch, and release it.
import pLimit from 'p-limit'
import type { machine } from '../../../machines/certificate/certificate.ts'
import type { Effects } from '../../../machines/slot.ts'
import { inTurn } from '../../async/in-turn.ts'
import { withLinkedSignal } from '../../async/linked-signal.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import { codeOf, Failure } from '../../errors.ts'
import { isoNow } from '../iso-now.ts'
import { checkHost } from './check.ts'
import { createOrders, isWildcard } from './order.ts'
import type { CertificatePorts } from './ports.ts'
import { keepWatch } from './watch.ts'

/** CAs also limit requests per address, so a server with many hosts orders only a few at a time. */
const maxConcurrentOrders = 4
const edgeTimeoutMs = 5_000

export function certificateEffects(ports: CertificatePorts): Effects<typeof machine> {
  const { certificates } = ports.storage
  const orders = createOrders(ports)
  const turns = pLimit(maxConcurrentOrders)
  return {
    async checkHost(input, signal) {
      const isRouted = () => ports.routedHosts(input.serviceId).includes(input.host)
      // For a wildcard the address of the host does not matter: the authority checks a TXT record.
      const mayCheck = isRouted() && !isWildcard(input.host)
      const trouble = mayCheck ? await checkHost(ports, input.host, signal) : null
      return { at: isoNow(), isRouted: isRouted(), trouble }
    },

    async obtainCertificate(input, signal) {
      const order = async (routed: AbortSignal) => ({ ...(await orders(input.host, routed)), at: isoNow() })
      return whileRouted(ports, input, signal, (routed) => inTurn(turns, routed, () => order(routed)))
    },

    async installCertificate(input, signal) {
      const install = (routed: AbortSignal) => notifyEdge(ports, routed)
      await whileRouted(ports, input, signal, install).catch((error: unknown) => {
        // The host is no longer routed, and the chart will release the certificate.
        if (codeOf(error) !== 'host_unrouted') throw error
      })
      certificates.removeOrder(input.host)
      return { at: isoNow() }
    },

    async keepWatch(input, signal) {
      const output = await keepWatch(ports, input, signal)
      // The edge drops expired certificates. Without one, plain http is still served.
      if (output.news === 'expired') await notifyEdge(ports, signal)
      return output
    },

    async releaseCertificate({ id, host: name }, signal) {
      if (!isClaimed(ports, id, name)) certificates.remove(name)
      await notifyEdge(ports, signal)
      return { at: isoNow() }
    },
  }
}

/** A removed service must not wait for a CA: aborted with `host_unrouted` once the host is not routed. */
function whileRouted<T>(
  { routedHosts, storage }: CertificatePorts,
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

/** An unavailable edge reads all certificates when it comes back. */
async function notifyEdge({ edge }: CertificatePorts, signal: AbortSignal): Promise<void> {
  const change = withTimeout(edgeTimeoutMs, signal, (bounded) => edge.changeCertificates(bounded))
  await change.catch(() => signal.throwIfAborted())
}

/** The host may have moved to another service, which still needs the certificate. */
function isClaimed({ storage }: CertificatePorts, id: string, name: string): boolean {
  const others = [...storage.actors.active('certificate')].filter((actor) => actor.id !== id)
  return others.some((actor) => {
    const record = storage.actors.record(actor.id)
    return record?.host === name && record.status !== 'released'
  })
}
