// Obtains one certificate from the CA and stores it, with a persistent account. The order and its key are
// stored before the CA gets them, so a crash loses no certificate.
import { createHash } from 'node:crypto'
import pLimit from 'p-limit'
import type {
  CertificateInput,
  CertificateProblem,
  CertificateValidity,
} from '../../../machines/certificate.ts'
import type { CertificateAccount, StoredTxtRecord } from '../../../storage/certificates.ts'
import type { Storage } from '../../../storage/index.ts'
import { TimeoutError, withTimeout } from '../../async/with-timeout.ts'
import { followAliases, type Lookup, waitForRecord } from '../../dns/propagation.ts'
import type { DnsProvider } from '../../dns/provider.ts'
import { AcmeFailure } from '../../edge/acme/failure.ts'
import type { Challenges } from '../../edge/acme/order.ts'
import type { Account, AccountJwk } from '../../edge/acme/session.ts'
import { codeOf, type Failure, messageOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { isoNow } from '../iso-now.ts'
import type { Internet } from './internet.ts'

type OrderPorts = Pick<CertificatePorts, 'dns' | 'edge' | 'settings' | 'storage'>

type OrderResult =
  | { validity: CertificateValidity; trouble: null }
  | { validity: null; trouble: CertificateProblem }

const orderTimeoutMs = 5 * 60_000
/** Name servers may take minutes to learn a record from their primary. */
const dnsOrderTimeoutMs = 10 * 60_000
/** CAs forget orders, and an old order is of no use. */
const orderLifetimeMs = 24 * 60 * 60_000

export function createOrders(ports: OrderPorts) {
  let opening: Promise<AccountJwk> | null = null

  return async (host: string, signal: AbortSignal): Promise<OrderResult> => {
    const { acmeEmail: email, acmeDirectory: directoryUrl } = ports.settings
    if (email === null) return { validity: null, trouble: certificatesDisabled }
    const account = { directoryUrl, email }
    try {
      opening ??= openAccountKey(ports, account)
      const key = await opening.catch((error: unknown) => {
        opening = null
        throw error
      })
      const validity = await withTimeout(
        isWildcard(host) ? dnsOrderTimeoutMs : orderTimeoutMs,
        signal,
        (bounded) => fetchInto(ports, host, { ...account, key }, bounded),
      )
      return { validity, trouble: null }
    } catch (error) {
      signal.throwIfAborted()
      return { validity: null, trouble: toProblem(error) }
    }
  }
}

async function openAccountKey({ storage }: OrderPorts, account: CertificateAccount): Promise<AccountJwk> {
  const storedKey = storage.certificates.accountKey(account)
  if (storedKey) return storedKey as AccountJwk
  const { createAccountKey } = await import('../../edge/acme/session.ts')
  const accountKey = await createAccountKey()
  storage.certificates.saveAccountKey(account, accountKey)
  return accountKey
}

async function fetchInto(
  orderer: OrderPorts,
  name: string,
  account: Account,
  signal: AbortSignal,
): Promise<CertificateValidity> {
  const { issueCertificate } = await import('../../edge/acme/order.ts')
  const { certificates } = orderer.storage
  const { directoryUrl, email } = account
  const issued = await issueCertificate(
    {
      account,
      host: name,
      challenges: challengesOf(orderer, name, signal),
      pending: pendingOrder(certificates.order(name), account),
      onPending: (made) => certificates.saveOrder(name, { directoryUrl, email, ...made, at: isoNow() }),
    },
    signal,
  )
  certificates.put(name, issued.pem)
  return { notBefore: issued.notBefore, notAfter: issued.notAfter, directoryUrl }
}

/** Throws `acme_rejected` for a wildcard without a zone: no other challenge proves it. */
function challengesOf({ dns, edge }: OrderPorts, name: string, signal: AbortSignal): Challenges {
  if (isWildcard(name)) {
    if (dns) return dns.challengesOf(name, signal)
    const reason = `${name} needs --acme-dns: a wildcard can only be validated by DNS`
    throw new AcmeFailure('acme_rejected', reason)
  }
  return {
    type: 'http-01',
    put: (token, response) => edge.putChallenge(token, response, signal),
    drop: async (token) => edge.dropChallenge(token),
  }
}

export function isWildcard(host: string): boolean {
  return host.startsWith('*.')
}

function pendingOrder(
  order: ReturnType<CertificatePorts['storage']['certificates']['order']>,
  { directoryUrl, email }: CertificateAccount,
) {
  if (order?.directoryUrl !== directoryUrl || order.email !== email) return null
  return Date.now() - Date.parse(order.at) < orderLifetimeMs ? order : null
}

const certificatesDisabled: CertificateProblem = {
  code: 'acme_off',
  message: 'no CA is asked: --acme-email is not set',
  hint: 'start berthd with --acme-email YOU@EXAMPLE.COM; manual: /docs/domains-and-https#https',
  retryAt: null,
}

/** Rethrows errors that neither the CA, the zone nor the connection caused. */
function toProblem(error: unknown): CertificateProblem {
  if (error instanceof TimeoutError) {
    return { code: 'acme_unreachable', message: `the order: ${error.message}`, hint: null, retryAt: null }
  }
  const isExpected = error instanceof AcmeFailure || codeOf(error) === 'dns_failed'
  if (!isExpected) throw error
  const { code, message, hint = null, retryAt = null } = error as Failure & Partial<AcmeFailure>
  return { code, message, hint, retryAt }
}

// Answers challenges by TXT records in the operator's zone. Each record is in a file from before its
// publication until its removal, so the sweep at the next start removes what a crash left.

export interface DnsPorts {
  provider: DnsProvider
  lookup: Lookup
}

interface DnsChallenges {
  /** The challenges of one order. The host may be a wildcard. */
  challengesOf(host: string, signal: AbortSignal): Challenges
  /** Removes the records that no order needs, now and every ten minutes. The returned function stops this. */
  startSweep(): () => void
}

interface Parts {
  logger: Logger
  storage: Pick<Storage, 'certificates'>
}

const sweepIntervalMs = 10 * 60_000
/** An order that is canceled still removes its record. */
const cleanupTimeoutMs = 60_000

export function createDnsChallenges(
  { logger, storage: { certificates } }: Parts,
  { provider, lookup }: DnsPorts,
): DnsChallenges {
  const needed = new Map<string, StoredTxtRecord>()
  // Changes to the zone: a removal must not overtake the publication of the same record.
  const oneAtATime = pLimit(1)

  async function cleanUp(record: StoredTxtRecord): Promise<void> {
    if ([...needed.values()].some((one) => one.name === record.name && one.value === record.value)) return
    await provider.cleanup(record, AbortSignal.timeout(cleanupTimeoutMs))
    certificates.removeTxtRecord(record)
  }

  /** The sweep repeats a failed removal. */
  const remove = (record: StoredTxtRecord) =>
    oneAtATime(() => cleanUp(record)).catch((error: unknown) =>
      logger.warn({ record: record.name, reason: messageOf(error) }, 'a TXT record cannot be removed yet'),
    )

  async function sweep(): Promise<void> {
    try {
      for (const record of certificates.txtRecords()) await remove(record)
    } catch (error) {
      logger.warn({ reason: messageOf(error) }, 'the list of TXT records cannot be read')
    }
  }

  return {
    challengesOf: (host, signal) => ({
      type: 'dns-01',
      async put(token, keyAuthorization) {
        const name = await followAliases(`_acme-challenge.${host.replace(/^\*\./, '')}`, lookup)
        const record = { name, value: createHash('sha256').update(keyAuthorization).digest('base64url') }
        needed.set(token, record)
        certificates.saveTxtRecord(record)
        await oneAtATime(() => provider.present(record, signal))
        await waitForRecord(record, lookup, signal)
      },
      async drop(token) {
        const record = needed.get(token)
        needed.delete(token)
        if (record) await remove(record)
      },
    }),

    startSweep() {
      void sweep()
      const timer = setInterval(() => void sweep(), sweepIntervalMs).unref()
      return () => clearInterval(timer)
    },
  }
}

/** A part of the daemon's `Edge`. */
export interface CertificateEdge {
  /** Resolves when every host answers `/.well-known/acme-challenge/<token>` with the given text. */
  putChallenge(token: string, answer: string, signal: AbortSignal): Promise<void>
  dropChallenge(token: string): void
  /** Resolves when the edge serves the certificates in `storage.certificates`. */
  changeCertificates(signal: AbortSignal): Promise<void>
}

interface CertificateSettings {
  /** null: no CA is used. */
  acmeEmail: string | null
  acmeDirectory: string
}

export interface CertificatePorts {
  storage: Pick<Storage, 'actors' | 'certificates' | 'changes'>
  logger: Logger
  edge: CertificateEdge
  settings: CertificateSettings
  internet: Internet
  /** null without a zone that this server may change. */
  dns: DnsChallenges | null
  /** The hosts of a service, or of the server itself with null. Empty for a removed or private service. */
  routedHosts(serviceId: string | null): string[]
}

export interface ClaimPorts extends Pick<CertificatePorts, 'logger' | 'settings' | 'routedHosts'> {
  storage: Pick<Storage, 'actors' | 'changes' | 'ids' | 'services'>
  actors: {
    spawn(kind: 'certificate', id: string, input: CertificateInput): Promise<unknown>
  }
}
