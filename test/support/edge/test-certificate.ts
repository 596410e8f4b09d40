// Certificates of an authority that exists for one test.
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import {
  BasicConstraintsExtension,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'

interface TestCertificate {
  authorityPem: string
  /** The certificate, followed by its authority. */
  chainPem: string
  keyPem: string
}

interface Validity {
  notBefore: Date
  notAfter: Date
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
export const rsa = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
}
const dayMs = 24 * 60 * 60 * 1000

/** Valid from yesterday for ninety days by default. */
export async function issueTestCertificate(
  names: string[],
  validity: Validity = {
    notBefore: new Date(Date.now() - dayMs),
    notAfter: new Date(Date.now() + 89 * dayMs),
  },
  keyAlgorithm: typeof algorithm | typeof rsa = algorithm,
): Promise<TestCertificate> {
  const authorityKeys = await newKeys()
  const keys = await newKeys(keyAlgorithm)
  const signing = { ...validity, signingAlgorithm: algorithm }
  const authority = await X509CertificateGenerator.createSelfSigned({
    ...signing,
    name: 'CN=An authority for tests',
    keys: authorityKeys,
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  })
  const alternative = names.map((value) => ({ type: /^[\d.]+$/.test(value) ? 'ip' : 'dns', value }) as const)
  const certificate = await X509CertificateGenerator.create({
    ...signing,
    subject: 'CN=A certificate for tests',
    issuer: authority.subject,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    extensions: [new SubjectAlternativeNameExtension(alternative)],
  })
  return {
    authorityPem: pemOf(authority),
    chainPem: `${pemOf(certificate)}${pemOf(authority)}`,
    keyPem: toPem('PRIVATE KEY', await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)),
  }
}

function newKeys(wanted: typeof algorithm | typeof rsa = algorithm) {
  return webcrypto.subtle.generateKey(wanted, true, ['sign', 'verify'])
}

function pemOf(certificate: X509Certificate): string {
  return toPem('CERTIFICATE', certificate.rawData)
}

function toPem(label: string, der: ArrayBuffer): string {
  const lines = Buffer.from(der)
    .toString('base64')
    .match(/.{1,64}/g)!
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}
