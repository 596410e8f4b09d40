// A session with a CA: its directory, single-use nonces, an account and signed requests. A rejected nonce
// does not fail the request, which is sent again with the next nonce.

import type { JWK } from 'jose'
import { withTimeout } from '../../async/with-timeout.ts'
import { Failure } from '../../errors.ts'
import { duration, size } from '../../quantities.ts'
import { AcmeFailure, type AcmeResponse, isBadNonce, refusalOf } from './failure.ts'

export interface Account {
  directoryUrl: string
  email: string
  key: AccountJwk
}

export interface Session {
  newOrderUrl: string
  authorize: AccountKey['authorize']
  /** A payload of null is a POST-as-GET. Throws if the CA rejects the request. */
  post(url: string, payload: object | null): Promise<AcmeResponse>
}

interface Directory {
  newNonce: string
  newAccount: string
  newOrder: string
}

const maxNonces = 20

/** Registers an account if the CA does not know its key, and agrees to the CA's terms. */
export async function openSession(
  { directoryUrl, email, key }: Account,
  signal: AbortSignal,
): Promise<Session> {
  const directory = await readDirectory(directoryUrl, signal)
  const signer = await openAccountKey(key)
  const nonces: string[] = []
  let kid: string | null = null

  async function takeNonce(): Promise<string> {
    const unusedNonce = nonces.pop()
    if (unusedNonce !== undefined) return unusedNonce
    const response = await sendRequest(directory.newNonce, { method: 'HEAD' }, signal)
    keepNonce(response)
    const fresh = nonces.pop()
    if (fresh !== undefined) return fresh
    throw response.status >= 400 ? refusalOf(response) : strange(directory.newNonce, 'returned no nonce')
  }

  function keepNonce({ headers }: AcmeResponse): void {
    const nonce = headers.get('replay-nonce')
    if (nonce && /^[A-Za-z0-9_-]{1,200}$/.test(nonce)) nonces.push(nonce)
  }

  async function post(url: string, payload: object | null): Promise<AcmeResponse> {
    for (let tries = 1; ; tries++) {
      const body = await signer.sign(payload, { url, nonce: await takeNonce(), kid })
      const answer = await sendRequest(url, { method: 'POST', body }, signal)
      keepNonce(answer)
      if (answer.status < 300) return answer
      if (!isBadNonce(answer) || tries === maxNonces) throw refused(answer)
    }
  }

  const created = await post(directory.newAccount, {
    termsOfServiceAgreed: true,
    contact: [`mailto:${email}`],
  })
  kid = locationOf(created)
  return { newOrderUrl: directory.newOrder, authorize: signer.authorize, post }
}

async function readDirectory(url: string, signal: AbortSignal): Promise<Directory> {
  const response = await sendRequest(url, { method: 'GET' }, signal)
  if (response.status >= 300) throw refused(response)
  const { newNonce, newAccount, newOrder } = jsonOf<Directory>(response)
  if (!newNonce || !newAccount || !newOrder) throw strange(url, 'is not an ACME directory')
  return { newNonce, newAccount, newOrder }
}

/** Throws `acme_unreachable` if the response is not a JSON object: the server does not speak ACME. */
export function jsonOf<T extends object>({ url, text }: AcmeResponse): T {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as T
  } catch {
    // Handled below.
  }
  throw strange(url, 'did not return an ACME response')
}

export function locationOf({ url, headers }: AcmeResponse): string {
  const location = headers.get('location')
  if (!location) throw strange(url, 'returned no location of the new resource')
  return parseCaUrl(new URL(location, url).href).href
}

function refused(response: AcmeResponse): AcmeFailure {
  return response.status >= 400
    ? refusalOf(response)
    : strange(response.url, `responds with ${response.status}`)
}

function strange(url: string, what: string): AcmeFailure {
  const hint = 'is --acme-directory the address of an ACME directory?'
  return new AcmeFailure('acme_unreachable', `${url} ${what}`, hint)
}

// One request to a CA over TLS, with limits on time and size. All URLs come from the CA; http is refused
// except on loopback.

const requestMs = 30_000
const largestBytes = 256 * 1024

/** Throws `acme_unreachable`, or the signal's reason. Resolves for any status. */
async function sendRequest(
  url: string,
  { method, body }: { method: 'GET' | 'HEAD' | 'POST'; body?: object },
  signal: AbortSignal,
): Promise<AcmeResponse> {
  const { host } = parseCaUrl(url)
  const late = new Error(`no response within ${duration(requestMs)}`)
  const exchange = async (bound: AbortSignal) => {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: bound,
      headers: { 'user-agent': 'berth', 'content-type': 'application/jose+json' },
      body: body ? JSON.stringify(body) : null,
    })
    return { url, status: response.status, headers: response.headers, text: await boundedText(response) }
  }
  try {
    return await withTimeout(requestMs, signal, exchange, late)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Failure) throw error
    throw new AcmeFailure('acme_unreachable', `${host} cannot be reached: ${reasonOf(error)}`)
  }
}

/** Throws `acme_unreachable` for an address without TLS: anyone on the path could forge its responses. */
function parseCaUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  const isLoopback = url !== null && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback)) return url
  throw new AcmeFailure('acme_unreachable', `the address of a CA is not https: ${text.slice(0, 200)}`)
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > largestBytes) throw new Error(`its response is larger than ${size(largestBytes)}`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** fetch only reports "fetch failed"; the reason is in the cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const first = cause instanceof AggregateError ? cause.errors[0] : cause
  return first instanceof Error ? first.message : String(first)
}

// The key of an ACME account: creates it, and signs requests with it (RFC 8555 section 6.2). jose is loaded
// at the first use, so a daemon without certificates does not load it.

/** The private key as JSON, for storage. */
export type AccountJwk = JWK

export interface AccountKey {
  /** The key authorization of a challenge: its token and a thumbprint of the account key. */
  authorize(token: string): string
  /** `kid` is the URL of the account; null before it is registered. */
  sign(payload: object | null, header: { url: string; nonce: string; kid: string | null }): Promise<object>
}

/** Creates a key for ES256. */
export async function createAccountKey(): Promise<AccountJwk> {
  const { exportJWK, generateKeyPair } = await import('jose')
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  return exportJWK(privateKey)
}

export async function openAccountKey(jwk: AccountJwk): Promise<AccountKey> {
  const { calculateJwkThumbprint, FlattenedSign, importJWK } = await import('jose')
  const key = await importJWK(jwk, 'ES256')
  const { kty, crv, x, y } = jwk
  const publicJwk = { kty, crv, x, y } as JWK
  const thumbprint = await calculateJwkThumbprint(publicJwk)
  return {
    authorize: (token) => `${token}.${thumbprint}`,
    async sign(payload, { url, nonce, kid }) {
      const text = payload === null ? '' : JSON.stringify(payload)
      const who = kid === null ? { jwk: publicJwk } : { kid }
      return new FlattenedSign(new TextEncoder().encode(text))
        .setProtectedHeader({ alg: 'ES256', nonce, url, ...who })
        .sign(key)
    },
  }
}
