// The key of a certificate and its signing request (RFC 2986): ECDSA P-256, one host in the alternative
// names. @peculiar/x509 needs `reflect-metadata` first; both are loaded at the first use.
import { webcrypto } from 'node:crypto'

export interface CertificateRequest {
  /** PKCS #8, PEM, without a blank line. */
  keyPem: string
  /** DER in base64url, as ACME requires. */
  csr: string
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

export async function requestCertificate(host: string): Promise<CertificateRequest> {
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
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey))
  return { keyPem: toPem('PRIVATE KEY', der), csr: Buffer.from(request.rawData).toString('base64url') }
}

function toPem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}
