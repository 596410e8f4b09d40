// The key and the chain of a certificate as one text in the format of the proxy. It contains no blank line:
// the proxy's command would end at it, and the rest would run as commands.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { AcmeFailure } from './failure.ts'

export interface IssuedCertificate {
  /** The key, the certificate, then the chain. */
  pem: string
  /** RFC 3339. */
  notBefore: string
  notAfter: string
}

const certificatePattern = /-----BEGIN CERTIFICATE-----[\sA-Za-z0-9+/=]+-----END CERTIFICATE-----/g

/** Throws `acme_rejected` if the chain does not match the key and the host. */
export function bundleOf(host: string, keyPem: string, chainPem: string): IssuedCertificate {
  const chain = (chainPem.match(certificatePattern) ?? []).map(withoutBlankLines)
  const [leaf] = chain.flatMap(readCertificate)
  if (!leaf || chain.length === 0) throw unfit(host, 'it is not a certificate')
  if (!leaf.checkPrivateKey(createPrivateKey(keyPem))) throw unfit(host, 'it is for another key')
  if (leaf.checkHost(host.replace('*', 'any')) === undefined)
    throw unfit(host, `it is for ${leaf.subjectAltName}`)
  return {
    pem: [withoutBlankLines(keyPem), ...chain, ''].join('\n'),
    notBefore: new Date(leaf.validFrom).toISOString(),
    notAfter: new Date(leaf.validTo).toISOString(),
  }
}

function readCertificate(pem: string): X509Certificate[] {
  try {
    return [new X509Certificate(pem)]
  } catch {
    return []
  }
}

function withoutBlankLines(pem: string): string {
  return pem
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')
}

function unfit(host: string, reason: string): AcmeFailure {
  return new AcmeFailure(
    'acme_rejected',
    `the CA returned a certificate for ${host} that is unusable: ${reason}`,
  )
}
