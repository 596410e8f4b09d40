// Obtains one certificate from the CA and stores it, with a persistent account. The order and its key are
// stored before the CA gets them, so a crash loses no certificate.
import type { CertificateProblem, CertificateValidity } from '../../../machines/certificate.ts'
import type { CertificateAccount } from '../../../storage/certificates.ts'
import { TimeoutError, withTimeout } from '../../async/with-timeout.ts'
import type { AccountJwk } from '../../edge/acme/account-key.ts'
import { AcmeFailure } from '../../edge/acme/failure.ts'
import type { Challenges } from '../../edge/acme/order.ts'
import type { Account } from '../../edge/acme/session.ts'
import { codeOf, type Failure } from '../../errors.ts'
import { isoNow } from '../iso-now.ts'
import type { CertificatePorts } from './ports.ts'

type OrderPorts = Pick<CertificatePorts, 'dns' | 'edge' | 'settings' | 'storage'>

export type OrderResult =
  | { validity: CertificateValidity; trouble: null }
  | { validity: null; trouble: CertificateProblem }

const orderTimeoutMs = 5 * 60_000
/** Name servers may take minutes to learn a record from their primary. */
const dnsOrderTimeoutMs = 10 * 60_000
/** CAs forget orders, and an old order is of no use. */
const orderLifetimeMs = 24 * 60 * 60_000

export function createOrders(ports: OrderPorts) {
  /** Created once, by the first order. */
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
  const { createAccountKey } = await import('../../edge/acme/account-key.ts')
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
