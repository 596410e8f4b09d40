// The key of a certificate with its signing request (RFC 2986), and later with its chain as one text in the
// format of the proxy. @peculiar/x509 needs `reflect-metadata` first; both are loaded at the first use.
import { createPrivateKey, KeyObject, webcrypto, X509Certificate } from 'node:crypto'
import { AcmeFailure } from './failure.ts'

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

/**
 * The text contains no blank line: the proxy's command would end at it, and the rest would run as commands.
 * Throws `acme_rejected` if the chain does not match the key and the host.
 */
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
