// Wires certificates: who gets one, from whom, and by which way over the internet it is looked at.
import type { Config } from '../config.ts'
import type { CertificateClaims } from '../effects/certificate/claims.ts'
import { createCertificateClaims } from '../effects/certificate/claims.ts'
import { openInternet } from '../effects/certificate/internet.ts'
import type { CertificateHost } from '../effects/certificate/ports.ts'
import { createRoutedHosts } from '../effects/certificate/routed-hosts.ts'
import type { Host } from '../effects/host.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'

export function certificatesOf(
  config: Config,
  { storage, logger, edge, publication }: Host,
  actors: Supervisor,
): { host: CertificateHost; claims: CertificateClaims } {
  const host = {
    storage,
    logger,
    edge,
    settings: { acmeEmail: config['acme-email'] || null, acmeDirectory: config['acme-directory'] },
    internet: openInternet(),
    routedHosts: createRoutedHosts(storage, publication),
  }
  return { host, claims: createCertificateClaims({ ...host, actors }) }
}
