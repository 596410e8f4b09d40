// One certificate from the CA into its file, with the account that is kept.
// Mind: an order under way is in a file before the CA hears of its key, so that a crash loses no certificate.
import type { CertificateTrouble, CertificateValidity } from '../../../machines/certificate.ts'
import type { CertificateAccount } from '../../../storage/certificates.ts'
import type { AccountJwk } from '../../edge/acme/account-key.ts'
import { AcmeFailure } from '../../edge/acme/failure.ts'
import { codeOf, messageOf } from '../../errors.ts'
import { isoNow } from '../host.ts'
import { within } from '../within.ts'
import type { CertificateHost } from './ports.ts'

type Orderer = Pick<CertificateHost, 'edge' | 'settings' | 'storage'>

export type Ordered =
  | { validity: CertificateValidity; trouble: null }
  | { validity: null; trouble: CertificateTrouble }

const orderMs = 5 * 60_000
/** CAs forget orders, and nobody wants yesterday's. */
const orderLifeMs = 24 * 60 * 60_000

export function createOrders(host: Orderer) {
  const keys = new Map<string, Promise<AccountJwk>>()

  /** Made once per CA and e-mail, whoever asks first. */
  function accountKey(account: CertificateAccount): Promise<AccountJwk> {
    const which = `${account.directoryUrl} ${account.email}`
    const known = keys.get(which) ?? openAccountKey(host, account)
    keys.set(which, known)
    known.catch(() => keys.delete(which))
    return known
  }

  return async (name: string, signal: AbortSignal): Promise<Ordered> => {
    const { acmeEmail: email, acmeDirectory: directoryUrl } = host.settings
    if (email === null) return { validity: null, trouble: switchedOff }
    const account = { directoryUrl, email }
    try {
      const key = await accountKey(account)
      const validity = await within(orderMs, signal, (bounded) =>
        fetchInto(host, name, { account, key }, bounded),
      )
      return { validity, trouble: null }
    } catch (error) {
      signal.throwIfAborted()
      return { validity: null, trouble: troubleOf(error) }
    }
  }
}

async function openAccountKey({ storage }: Orderer, account: CertificateAccount): Promise<AccountJwk> {
  const kept = storage.certificates.accountKey(account)
  if (kept) return kept as AccountJwk
  const { createAccountKey } = await import('../../edge/acme/account-key.ts')
  const made = await createAccountKey()
  storage.certificates.keepAccountKey(account, made)
  return made
}

async function fetchInto(
  { edge, storage }: Orderer,
  name: string,
  { account, key }: { account: CertificateAccount; key: AccountJwk },
  signal: AbortSignal,
): Promise<CertificateValidity> {
  const { issueCertificate } = await import('../../edge/acme/order.ts')
  const { certificates } = storage
  const issued = await issueCertificate(
    {
      account: { ...account, key },
      host: name,
      challenges: {
        put: (token, answer) => edge.putChallenge(token, answer, signal),
        drop: async (token) => edge.dropChallenge(token),
      },
      pending: pendingOrder(certificates.order(name), account),
      onPending: (order) => certificates.keepOrder(name, { ...account, ...order, at: isoNow() }),
    },
    signal,
  )
  certificates.put(name, issued.pem)
  return { notBefore: issued.notBefore, notAfter: issued.notAfter, directoryUrl: account.directoryUrl }
}

function pendingOrder(
  order: ReturnType<CertificateHost['storage']['certificates']['order']>,
  { directoryUrl, email }: CertificateAccount,
) {
  if (order?.directoryUrl !== directoryUrl || order.email !== email) return null
  return Date.now() - Date.parse(order.at) < orderLifeMs ? order : null
}

const switchedOff: CertificateTrouble = {
  code: 'acme_off',
  message: 'no CA is asked: --acme-email is not set',
  hint: 'start berthd with --acme-email YOU@EXAMPLE.COM',
  retryAt: null,
}

/** Throws what is no fault of the CA, or of the way there. */
function troubleOf(error: unknown): CertificateTrouble {
  if (error instanceof AcmeFailure) {
    const { code, message, hint = null, retryAt } = error
    return { code, message, hint, retryAt }
  }
  if (codeOf(error) !== 'timeout') throw error
  return { code: 'acme_unreachable', message: `the order: ${messageOf(error)}`, hint: null, retryAt: null }
}
