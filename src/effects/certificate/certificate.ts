// The effects of a certificate: check the host, order, renew, watch, and release it.
import pLimit from 'p-limit'
import type { machine, WatchInput, WatchOutput } from '../../../machines/certificate.ts'
import type { Effects } from '../../../machines/slot.ts'
import { inTurn } from '../../async/in-turn.ts'
import { withLinkedSignal } from '../../async/linked-signal.ts'
import { waitForWake } from '../../async/wait-for-wake.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import { codeOf, Failure } from '../../errors.ts'
import { checkHost } from './check.ts'
import { type CertificatePorts, createOrders, isWildcard } from './order.ts'

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
      return { isRouted: isRouted(), trouble }
    },

    async obtainCertificate(input, signal) {
      const order = (routed: AbortSignal) => inTurn(turns, routed, () => orders(input.host, routed))
      return whileRouted(ports, input, signal, order)
    },

    async installCertificate(input, signal) {
      const install = (routed: AbortSignal) => notifyEdge(ports, routed)
      await whileRouted(ports, input, signal, install).catch((error: unknown) => {
        // The host is no longer routed, and the chart will release the certificate.
        if (codeOf(error) !== 'host_unrouted') throw error
      })
      certificates.removeOrder(input.host)
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

type News = Omit<WatchOutput, 'at'>
type Watcher = Pick<CertificatePorts, 'logger' | 'routedHosts' | 'settings' | 'storage'>

const dayMs = 24 * 60 * 60_000
/** Days before expiry at which a failing renewal is logged as a warning. */
const warningDays = [21, 7, 1]
const maxSleepMs = 60 * 60_000

async function keepWatch(ports: Watcher, input: WatchInput, signal: AbortSignal): Promise<News> {
  for (;;) {
    const news = findNews(ports, input, Date.now())
    if (news) return news
    await waitForChange(ports, input, signal)
  }
}

function findNews(ports: Watcher, input: WatchInput, nowMs: number): News | null {
  const { serviceId, validity, until } = input
  if (!ports.routedHosts(serviceId).includes(input.host)) return { news: 'unrouted', warnedDays: null }
  if (validity) {
    const isThere = ports.storage.certificates.find(input.host) !== null
    if (!isThere) return { news: 'lost', warnedDays: null }
    if (!input.isExpired && Date.parse(validity.notAfter) <= nowMs) return expire(ports, input)
    if (isFromOtherCa(ports, input)) return { news: 'due', warnedDays: null }
  }
  if (Date.parse(until) <= nowMs) return { news: 'due', warnedDays: null }
  const days = warningAt(input, nowMs)
  return days === null ? null : warn(ports, input, days)
}

function isFromOtherCa({ settings }: Watcher, { mayReplace, validity }: WatchInput): boolean {
  return mayReplace && settings.acmeEmail !== null && validity?.directoryUrl !== settings.acmeDirectory
}

/** The latest warning that is due and not yet logged. Only a late renewal causes warnings. */
function warningAt(
  { validity, warnedDays, mayReplace, isExpired }: WatchInput,
  nowMs: number,
): number | null {
  if (!validity || mayReplace || isExpired) return null
  const leftMs = Date.parse(validity.notAfter) - nowMs
  const days = warningDays.filter((mark) => leftMs <= mark * dayMs).at(-1)
  return days === undefined || (warnedDays !== null && warnedDays <= days) ? null : days
}

function expire(ports: Watcher, { host: name, validity, id }: WatchInput): News {
  const fields = { host: name, certificate: id, not_after: validity!.notAfter }
  ports.logger.error(fields, 'a certificate has expired')
  return { news: 'expired', warnedDays: null }
}

function warn(ports: Watcher, { host: name, validity, id }: WatchInput, days: number) {
  const record = ports.storage.actors.record(id)
  const fields = { host: name, certificate: id, not_after: validity!.notAfter, reason: record?.error }
  const unit = days === 1 ? 'day' : 'days'
  ports.logger.warn(fields, `a certificate expires within ${days} ${unit} and cannot be renewed`)
  return { news: 'warned', warnedDays: days } as const
}

async function waitForChange(ports: Watcher, input: WatchInput, signal: AbortSignal): Promise<void> {
  const nowMs = Date.now()
  const instants = [Date.parse(input.until), ...(input.validity ? warningTimes(input.validity.notAfter) : [])]
  const next = Math.min(...instants.filter((instant) => instant > nowMs), nowMs + maxSleepMs)
  let unsubscribe = () => {}
  const listen = (nudge: () => void) => {
    unsubscribe = ports.storage.changes.subscribe((change) => {
      const isOwn = change.kind === 'service' && change.service_id === input.serviceId
      // A wildcard may replace this certificate.
      const isOfServer = change.kind === 'certificate' && !change.service_id
      // The hosts of all services decide whether a wildcard is kept.
      const isBelow = isWildcard(input.host) && ['certificate', 'service'].includes(change.kind)
      if (isOwn || isOfServer || isBelow) nudge()
    })
  }
  await waitForWake(listen, next - nowMs + 1, signal).finally(() => unsubscribe())
}

function warningTimes(notAfter: string): number[] {
  const endMs = Date.parse(notAfter)
  return [endMs, ...warningDays.map((days) => endMs - days * dayMs)]
}
