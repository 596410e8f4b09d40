// The CA's limit of new certificates per registered domain and week. It is counted here, so an order over
// the limit waits until a known time instead of being refused. Renewals do not count.
import type { CertificateProblem } from '../../../machines/certificate/certificate.ts'
import type { Storage } from '../../../storage/index.ts'
import type { IssuancePause, IssuedCertificates } from '../../../storage/issued-certificates.ts'
import { registeredDomainOf } from '../../dns/registered-domain.ts'
import { isoNow } from '../iso-now.ts'

interface Counted {
  settings: { acmeDirectory: string; newPerWeek: number | null }
  storage: Pick<Storage, 'certificates' | 'issuedCertificates'>
}

export interface DomainUsage {
  domain: string
  /** New certificates of the last seven days. */
  issued: number
  /** The number of orders left now; null without a limit. */
  remaining: number | null
  /** When the next new host may be ordered; null if it may be ordered now. */
  nextOrderAt: string | null
  /** The reason why no new host may be ordered now. */
  reason: string | null
}

export interface Reservation {
  /** The reason why the order must wait; null if it may proceed. */
  problem: CertificateProblem | null
  release(): void
}

const wildcardHint =
  'one wildcard (--acme-dns) serves all names below the base domain; manual: /docs/certificates'
const weekMs = 7 * 24 * 60 * 60_000
/** The pause after a refusal without `Retry-After`. */
const pauseMs = 60 * 60_000
/** The best-known CA dates certificates one hour back. */
const backdatedMs = 60 * 60_000

export type WeeklyLimit = ReturnType<typeof openWeeklyLimit>

export function openWeeklyLimit({ settings, storage }: Counted) {
  const { acmeDirectory: directoryUrl, newPerWeek } = settings
  const ledger = storage.issuedCertificates
  /** Domains of unfinished orders. */
  const open = new Map<object, string>()
  seed(ledger, storage, directoryUrl)

  const usageOf = (domain: string) => {
    const ordered = [...open.values()].filter((one) => one === domain).length
    return toUsage({ ledger, directoryUrl, newPerWeek }, domain, ordered)
  }

  return {
    /** Whether a new host may be ordered now. It counts as issued until it is released. */
    take(host: string): Reservation {
      const usage = usageOf(registeredDomainOf(host))
      if (usage.nextOrderAt !== null) return { problem: toProblem(usage), release: () => undefined }
      const turn = {}
      open.set(turn, usage.domain)
      return { problem: null, release: () => void open.delete(turn) }
    },

    /** Whether the CA would treat an order for the host as a renewal. */
    hasIssued: (host: string) => ledger.issued(directoryUrl).some((certificate) => certificate.host === host),

    issued(host: string, order: string): void {
      ledger.record([{ directoryUrl, order, host, domain: registeredDomainOf(host), at: isoNow() }])
    },

    /**
     * Records that the CA refused a new host. If the limit of the domain is reached, its other new hosts wait
     * as well.
     */
    refused(host: string, { message, retryAt }: Pick<CertificateProblem, 'message' | 'retryAt'>): void {
      if (!concernsDomain(message, host)) return
      const until = retryAt ?? new Date(Date.now() + pauseMs).toISOString()
      const pause: IssuancePause = { directoryUrl, domain: registeredDomainOf(host), until, reason: message }
      ledger.pause(pause)
    },

    /** The usage of every domain that has a certificate of the last seven days, or is paused. */
    list(): DomainUsage[] {
      const ledgerEntries = [...ledger.issued(directoryUrl), ...ledger.pauses(directoryUrl)]
      const domains = [...new Set(ledgerEntries.map(({ domain }) => domain))].sort()
      return domains
        .map((domain) => usageOf(domain))
        .filter((usage) => usage.issued > 0 || usage.reason !== null)
    },
  }
}

/** Messages of authorities have some 200 characters. */
const maxMessageLength = 1000

/**
 * Authorities have limits per domain, host and account. Only the message distinguishes them: the type is
 * `rateLimited` for all. A limit of the domain names the domain, and so may a limit of its own host or of its
 * wildcard. An unclear message counts as a limit of the host.
 */
function concernsDomain(message: string, host: string): boolean {
  const text = message.slice(0, maxMessageLength).toLowerCase()
  if (/authorization|exact set/.test(text)) return false
  const domain = registeredDomainOf(host)
  const names: string[] = text.match(/[a-z0-9_-]+(?:\.[a-z0-9_-]+)+/g) ?? []
  return names.includes(domain) && (host !== domain || /certificates .*issued/.test(text))
}

interface Ledger {
  ledger: IssuedCertificates
  directoryUrl: string
  newPerWeek: number | null
}

/** `ordered` are the orders that are under way. */
function toUsage({ ledger, directoryUrl, newPerWeek }: Ledger, domain: string, ordered: number): DomainUsage {
  const nowMs = Date.now()
  const issuedForDomain = ledger.issued(directoryUrl).filter((certificate) => certificate.domain === domain)
  const issued = issuedForDomain.map(({ at }) => Date.parse(at))
  const open = Array.from({ length: ordered }, () => nowMs)
  const { remaining, nextMs } = allowance([...issued, ...open], newPerWeek, nowMs)
  const pause = ledger.pauses(directoryUrl, nowMs).find((one) => one.domain === domain)
  const counted = issued.filter((at) => at > nowMs - weekMs).length
  const full = nextMs > nowMs ? { until: nextMs, reason: exhaustedReason(domain, newPerWeek, counted) } : null
  const paused = pause ? { until: Date.parse(pause.until), reason: pause.reason } : null
  const wait = [full, paused].filter((one) => one !== null).sort((a, b) => b.until - a.until)[0]
  return {
    domain,
    issued: counted,
    remaining: wait && remaining !== null ? 0 : remaining,
    nextOrderAt: wait ? new Date(wait.until).toISOString() : null,
    reason: wait?.reason ?? null,
  }
}

/**
 * Let's Encrypt's token bucket: the whole limit initially, then one more each time the limit's share
 * of the week has passed (50 a week: one in 202 minutes).
 */
export function allowance(issuedMs: number[], limit: number | null, nowMs: number) {
  if (limit === null) return { remaining: null, nextMs: nowMs }
  const stepMs = weekMs / limit
  const sorted = [...issuedMs].sort((a, b) => a - b)
  const fullAgainMs = sorted.reduce((end, at) => Math.max(end, at) + stepMs, 0)
  const freeMs = Math.max(0, nowMs + weekMs - Math.max(fullAgainMs, nowMs))
  const remaining = Math.floor(freeMs / stepMs + 1e-9)
  return { remaining, nextMs: remaining > 0 ? nowMs : Math.ceil(fullAgainMs - weekMs + stepMs) }
}

/** An older version did not count, so the certificates that it obtained this week count as new. */
function seed(ledger: IssuedCertificates, { certificates }: Counted['storage'], directoryUrl: string): void {
  if (ledger.hasRecords()) return
  const issuedMs = (notBefore: string) => Date.parse(notBefore) + backdatedMs
  const young = certificates.list().filter(({ notBefore }) => issuedMs(notBefore) > Date.now() - weekMs)
  const entries = young.map(({ host, notBefore, fingerprint }) => ({
    directoryUrl,
    order: fingerprint,
    host,
    domain: registeredDomainOf(host),
    at: new Date(Math.min(issuedMs(notBefore), Date.now())).toISOString(),
  }))
  if (entries.length > 0) ledger.record(entries)
}

function exhaustedReason(domain: string, limit: number | null, issued: number): string {
  const unit = issued === 1 ? 'certificate' : 'certificates'
  return `${issued} new ${unit} of ${domain} in 7 days: the limit is ${limit} a week`
}

function toProblem({ nextOrderAt, reason }: DomainUsage): CertificateProblem {
  return { code: 'acme_weekly_limit', message: reason!, hint: wildcardHint, retryAt: nextOrderAt }
}
