// Obtains one certificate from the CA and stores it, with a persistent account. The order and its key are
// stored before the CA gets them, so a crash loses no certificate.
import type { CertificateProblem, CertificateValidity } from '../../../machines/certificate/certificate.ts'
import type { CertificateAccount } from '../../../storage/certificates.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import type { AccountJwk } from '../../edge/acme/account-key.ts'
import { AcmeFailure } from '../../edge/acme/failure.ts'
import type { Challenges } from '../../edge/acme/order.ts'
import type { Account } from '../../edge/acme/session.ts'
import { codeOf, type Failure, messageOf } from '../../errors.ts'
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
  const keys = new Map<string, Promise<AccountJwk>>()

  /** Created once per CA and e-mail address, by the first caller. */
  function accountKey(account: CertificateAccount): Promise<AccountJwk> {
    const which = `${account.directoryUrl} ${account.email}`
    const known = keys.get(which) ?? openAccountKey(ports, account)
    keys.set(which, known)
    known.catch(() => keys.delete(which))
    return known
  }

  return async (host: string, signal: AbortSignal): Promise<OrderResult> => {
    const { acmeEmail: email, acmeDirectory: directoryUrl } = ports.settings
    if (email === null) return { validity: null, trouble: certificatesDisabled }
    const account = { directoryUrl, email }
    try {
      const key = await accountKey(account)
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
    throw new AcmeFailure(
      'acme_rejected',
      `${name} needs --acme-dns: a wildcard can only be validated by DNS`,
    )
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

/** Rethrows errors that neither the CA nor the connection caused. */
function toProblem(error: unknown): CertificateProblem {
  if (error instanceof AcmeFailure) {
    const { code, message, hint = null, retryAt } = error
    return { code, message, hint, retryAt }
  }
  if (codeOf(error) === 'dns_failed') {
    return {
      code: 'dns_failed',
      message: messageOf(error),
      hint: (error as Failure).hint ?? null,
      retryAt: null,
    }
  }
  if (codeOf(error) !== 'timeout') throw error
  return { code: 'acme_unreachable', message: `the order: ${messageOf(error)}`, hint: null, retryAt: null }
}
