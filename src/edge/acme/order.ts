// One order of one certificate (RFC 8555 section 7.4): from the request to the chain. The order is stored
// (`onPending`) as soon as it exists, so that it can be resumed after a crash: CAs count certificates,
// including lost ones.

import { createPrivateKey, KeyObject, webcrypto, X509Certificate } from 'node:crypto'
import { sleep } from '../../async/sleep.ts'
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

/** Throws `acme_unreachable`, `acme_rate_limited`, `acme_rejected` and `acme_challenge_failed`. */
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

// The key of a certificate with its signing request (RFC 2986), and later with its chain as one text in the
// format of the proxy. @peculiar/x509 needs `reflect-metadata` first; both are loaded at the first use.

export interface IssuedCertificate {
  /** The key, the certificate, then the chain. */
  pem: string
  /** RFC 3339. */
  notBefore: string
  notAfter: string
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const certificatePattern = /-----BEGIN CERTIFICATE-----[\sA-Za-z0-9+/=]+-----END CERTIFICATE-----/g

/** The key as PKCS #8 in PEM; the request as DER in base64url, as ACME requires. */
export async function requestCertificate(host: string): Promise<{ keyPem: string; csr: string }> {
  await import('reflect-metadata')
  const { Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } = await import(
    '@peculiar/x509'
  )
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const request = await Pkcs10CertificateRequestGenerator.create({
    keys,
    signingAlgorithm: algorithm,
    extensions: [new SubjectAlternativeNameExtension([{ type: 'dns', value: host }])],
  })
  const keyPem = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString()
  return { keyPem, csr: Buffer.from(request.rawData).toString('base64url') }
}

/** Without blank lines: the proxy's command would end there. Throws `acme_rejected` for a wrong chain. */
export function bundleOf(host: string, keyPem: string, chainPem: string): IssuedCertificate {
  const chain = (chainPem.match(certificatePattern) ?? []).map(withoutBlankLines)
  const leaf = chain[0] === undefined ? null : new X509Certificate(chain[0])
  const isForKey = leaf?.checkPrivateKey(createPrivateKey(keyPem)) === true
  if (!isForKey || leaf.checkHost(host.replace('*', 'any')) === undefined) {
    throw new AcmeFailure('acme_rejected', `the CA returned a certificate that is unusable for ${host}`)
  }
  return {
    pem: [withoutBlankLines(keyPem), ...chain, ''].join('\n'),
    notBefore: new Date(leaf.validFrom).toISOString(),
    notAfter: new Date(leaf.validTo).toISOString(),
  }
}

function withoutBlankLines(pem: string): string {
  const lines = pem.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').join('\n')
}
