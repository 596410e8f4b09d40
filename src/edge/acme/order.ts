// One order of one certificate (RFC 8555 section 7.4): from the request to the chain. The order is stored
// (`onPending`) as soon as it exists, so that it can be resumed after a crash: CAs count certificates,
// including lost ones.
import { sleep } from '../../async/sleep.ts'
import type { AcmeResponse } from './answer.ts'
import { bundleOf, type IssuedCertificate } from './bundle.ts'
import { type CertificateRequest, requestCertificate } from './certificate-request.ts'
import { AcmeFailure } from './failure.ts'
import { challengeFailure, type Problem, retryAtOf } from './refusal.ts'
import { type Account, jsonOf, locationOf, openSession, type Session } from './session.ts'

/** The data for downloading the certificate of a pending order. */
export interface PendingOrder {
  url: string
  keyPem: string
}

/** Publishes and removes the response to a challenge; both resolve when it is in effect. */
export interface Challenges {
  /**
   * Proves control by a file at `/.well-known/acme-challenge/<token>`, or by a TXT record, as
   * wildcards require.
   */
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
  status: string
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
  for (const address of orderIn(response).authorizations) await prove(session, wanted, address, signal)
  const ready = await settled(session, url, ['pending'], signal)
  requireGood(host, ready)
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
  { url, keyPem }: { url: string; keyPem: CertificateRequest['keyPem'] },
  signal: AbortSignal,
): Promise<IssuedCertificate> {
  const order = await settled(session, url, ['processing'], signal)
  requireGood(host, order)
  if (!order.certificate) {
    throw new AcmeFailure(
      'acme_rejected',
      `the order of ${host} is ${order.status}: no certificate was issued`,
    )
  }
  const { text } = await session.post(order.certificate, null)
  return bundleOf(host, keyPem, text)
}

/**
 * Proves to the CA that this server controls the host. The challenge response is always removed afterwards.
 */
async function prove(session: Session, { host, challenges }: OrderRequest, url: string, signal: AbortSignal) {
  const authorization = authorizationIn(await session.post(url, null))
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
    const outcome = await settledAuthorization(session, url, signal)
    if (outcome.status === 'valid') return
    const failed = outcome.challenges.find(({ type }) => type === challenges.type)
    throw challengeFailure(host, failed?.error ?? null)
  } finally {
    await challenges.drop(challenge.token)
  }
}

function requireGood(host: string, order: Order): void {
  if (order.status !== 'invalid') return
  const words = challengeFailure(host, order.error ?? null)
  throw new AcmeFailure('acme_rejected', words.message, { problem: words.problem })
}

async function settled(session: Session, url: string, open: string[], signal: AbortSignal): Promise<Order> {
  return orderIn(await poll(session, url, (response) => !open.includes(orderIn(response).status), signal))
}

async function settledAuthorization(session: Session, url: string, signal: AbortSignal) {
  const hasEnded = (response: AcmeResponse) => authorizationIn(response).status !== 'pending'
  return authorizationIn(await poll(session, url, hasEnded, signal))
}

/** Polls until it has ended: at the interval that the CA requests, or with a growing one. */
async function poll(
  session: Session,
  url: string,
  hasEnded: (answer: AcmeResponse) => boolean,
  signal: AbortSignal,
): Promise<AcmeResponse> {
  for (let pauseMs = minPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    const response = await session.post(url, null)
    if (hasEnded(response)) return response
    const retryAt = retryAtOf(response.headers)
    const askedMs = retryAt === null ? pauseMs : Date.parse(retryAt) - Date.now()
    const waitMs = Math.min(longestPauseMs, Math.max(minPauseMs, askedMs))
    await sleep(waitMs, signal)
  }
}

function orderIn(response: AcmeResponse): Order {
  const { status, authorizations, finalize, ...rest } = jsonOf<Order>(response)
  const isComplete = typeof status === 'string' && typeof finalize === 'string' && isTexts(authorizations)
  if (!isComplete) throw new AcmeFailure('acme_unreachable', `${response.url} did not return an order`)
  return { ...rest, status, authorizations, finalize }
}

function authorizationIn(response: AcmeResponse): Authorization {
  const { status, challenges } = jsonOf<Authorization>(response)
  if (typeof status !== 'string' || !Array.isArray(challenges)) {
    throw new AcmeFailure('acme_unreachable', `${response.url} did not return an authorization`)
  }
  return { status, challenges: challenges.filter(isChallenge) }
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function isChallenge(value: Challenge | null): boolean {
  return typeof value?.type === 'string' && typeof value.url === 'string' && typeof value.token === 'string'
}
