// The key of an ACME account: creates it, and signs requests with it (RFC 8555 section 6.2). jose is loaded
// at the first use, so a daemon without certificates does not load it.
import type { JWK } from 'jose'

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
