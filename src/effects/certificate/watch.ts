// Waits for the next event of a certificate: it is due, expired or lost, or its host is no longer routed.
// Whether a host is routed is read again after every change of its service.
import type { WatchInput, WatchOutput } from '../../../machines/certificate/certificate.ts'
import { waitForWake } from '../../async/wait-for-wake.ts'
import { isoNow } from '../iso-now.ts'
import { isWildcard } from './order.ts'
import type { CertificatePorts } from './ports.ts'

type Watcher = Pick<CertificatePorts, 'logger' | 'routedHosts' | 'settings' | 'storage'>

const dayMs = 24 * 60 * 60_000
/** Days before expiry at which a failing renewal is logged as a warning. */
const warningDays = [21, 7, 1]
const maxSleepMs = 60 * 60_000

export async function keepWatch(
  ports: Watcher,
  input: WatchInput,
  signal: AbortSignal,
): Promise<WatchOutput> {
  for (;;) {
    const news = findNews(ports, input, Date.now())
    if (news) return { at: isoNow(), ...news }
    await waitForChange(ports, input, signal)
  }
}

function findNews(ports: Watcher, input: WatchInput, nowMs: number): Omit<WatchOutput, 'at'> | null {
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

function expire(ports: Watcher, { host: name, validity, id }: WatchInput): Omit<WatchOutput, 'at'> {
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
