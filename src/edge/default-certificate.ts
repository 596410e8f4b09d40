// The default certificate for clients that request no known host: self-signed, created once. HAProxy does not
// start without a certificate.
import { existsSync } from 'node:fs'
import { writeAtomically } from './files.ts'

const tenYearsMs = 10 * 365 * 24 * 60 * 60 * 1000

/** Loads the certificate library only if the certificate does not exist yet. */
export async function ensureDefaultCertificate(path: string): Promise<void> {
  if (existsSync(path)) return
  await import('reflect-metadata')
  const { PemConverter, X509CertificateGenerator } = await import('@peculiar/x509')
  const { webcrypto } = await import('node:crypto')
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=Berth',
    notBefore: new Date(Date.now() - 24 * 60 * 60 * 1000),
    notAfter: new Date(Date.now() + tenYearsMs),
    signingAlgorithm: algorithm,
    keys,
  })
  const key = PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY')
  await writeAtomically(path, `${key}\n${certificate.toString('pem')}\n`)
}
