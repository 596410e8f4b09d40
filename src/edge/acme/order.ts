// One order of one certificate (RFC 8555 section 7.4): from the request to the chain. The order is stored
// (`onPending`) as soon as it exists, so that it can be resumed after a crash: CAs count certificates,
// including lost ones.
import { sleep } from '../../async/sleep.ts'
import { bundleOf, type IssuedCertificate, requestCertificate } from './certificate-files.ts'
import { AcmeFailure, checkFailure, type Problem, retryAtOf } from './failure.ts'
import { type Account, jsonOf, locationOf, openSession, type Session } from './session.ts'

/** The data for downloading the certificate of a pending order. */
export interface PendingOrder {
  url: string
  keyPem: string
}

/** Publishes and removes the response to a challenge; both resolve when it is in effect. */
export interface Challenges {
  /** By a file at `/.well-known/acme-challenge/<token>`, or by a TXT record, as wildcards require. */
  type: 'http-01' | 'dns-01'
  put(token: string, keyAuthorization: string): Promise<void>
  drop(token: string): Promise<void>
}

export interface OrderRequest {
  account: Account
  host: string
  challenges: Challenges
  /** The order of an earlier attempt. One that cannot be completed is dropped. */
  pending: PendingOrder | null
  onPending(order: PendingOrder): void
}

interface Order {
  status: string
  authorizations: string[]
  finalize: string
  certificate?: string
  error?: Problem
}

interface Challenge {
  type: string
  url: string
  token: string
  error?: Problem
}

interface Authorization {
  status: string
  challenges: Challenge[]
}

const minPauseMs = 250
const longestPauseMs = 15_000

/**
 * The signal bounds the whole order. Throws `acme_unreachable`, `acme_rate_limited`, `acme_rejected`, and
 * `acme_challenge_failed` if the CA could not reach the host.
 */
export async function issueCertificate(
  wanted: OrderRequest,
  signal: AbortSignal,
): Promise<IssuedCertificate> {
  const { account, host, pending, onPending } = wanted
  const session = await openSession(account, signal)
  const resumed = pending && (await resume(session, host, pending, signal))
  if (resumed) return resumed
  const response = await session.post(session.newOrderUrl, { identifiers: [{ type: 'dns', value: host }] })
  const url = locationOf(response)
  for (const address of jsonOf<Order>(response).authorizations) await prove(session, wanted, address, signal)
  const ready = await settledOrder(session, host, url, 'pending', signal)
  const { keyPem, csr } = await requestCertificate(host)
  onPending({ url, keyPem })
  await session.post(ready.finalize, { csr })
  return collect(session, host, { url, keyPem }, signal)
}

/** Null if the order can no longer be completed. */
async function resume(session: Session, host: string, pending: PendingOrder, signal: AbortSignal) {
  try {
    return await collect(session, host, pending, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof AcmeFailure && error.code === 'acme_rejected') return null
    throw error
  }
}

async function collect(
  session: Session,
  host: string,
  { url, keyPem }: PendingOrder,
  signal: AbortSignal,
): Promise<IssuedCertificate> {
  const { status, certificate } = await settledOrder(session, host, url, 'processing', signal)
  if (!certificate) {
    throw new AcmeFailure('acme_rejected', `the order of ${host} is ${status}: no certificate was issued`)
  }
  const { text } = await session.post(certificate, null)
  return bundleOf(host, keyPem, text)
}

/** Proves that this server controls the host. The challenge response is always removed afterwards. */
async function prove(session: Session, { host, challenges }: OrderRequest, url: string, signal: AbortSignal) {
  const authorization = jsonOf<Authorization>(await session.post(url, null))
  if (authorization.status === 'valid') return
  const challenge = authorization.challenges.find(({ type }) => type === challenges.type)
  if (authorization.status !== 'pending' || !challenge) {
    const reason = challenge
      ? `its authorization is ${authorization.status}`
      : `it offers no ${challenges.type}`
    throw new AcmeFailure('acme_rejected', `the CA does not check ${host}: ${reason}`)
  }
  if (!/^[A-Za-z0-9_-]{16,200}$/.test(challenge.token)) {
    throw new AcmeFailure('acme_rejected', `the CA sent an invalid token for ${host}`)
  }
  try {
    await challenges.put(challenge.token, session.authorize(challenge.token))
    await session.post(challenge.url, {})
    const outcome = await settled<Authorization>(session, url, 'pending', signal)
    if (outcome.status === 'valid') return
    const failed = outcome.challenges.find(({ type }) => type === challenges.type)
    throw checkFailure('acme_challenge_failed', host, failed?.error ?? null)
  } finally {
    await challenges.drop(challenge.token)
  }
}

async function settledOrder(session: Session, host: string, url: string, open: string, signal: AbortSignal) {
  const order = await settled<Order>(session, url, open, signal)
  if (order.status === 'invalid') throw checkFailure('acme_rejected', host, order.error ?? null)
  return order
}

/** Polls until its status is another: at the interval that the CA requests, or with a growing one. */
async function settled<T extends { status: string }>(
  session: Session,
  url: string,
  open: string,
  signal: AbortSignal,
): Promise<T> {
  for (let pauseMs = minPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    const response = await session.post(url, null)
    const found = jsonOf<T>(response)
    if (found.status !== open) return found
    const retryAt = retryAtOf(response.headers)
    const askedMs = retryAt === null ? pauseMs : Date.parse(retryAt) - Date.now()
    await sleep(Math.min(longestPauseMs, Math.max(minPauseMs, askedMs)), signal)
  }
}
