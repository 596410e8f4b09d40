// Wires certificates: which hosts get one, from which CA, and how they are checked over the internet.
import type { Config } from '../config/config.ts'
import { createCertificateClaims } from '../effects/certificate/claims.ts'
import { createDnsChallenges } from '../effects/certificate/dns-challenge.ts'
import { openInternet } from '../effects/certificate/internet.ts'
import { createRoutedHosts, wildcardHostOf } from '../effects/certificate/routed-hosts.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { createDnsProvider } from './dns.ts'
import type { Ports } from './ports.ts'

export function createCertificates(
  config: Config,
  { storage, logger, edge, publication }: Ports,
  actors: Supervisor,
) {
  const settings = { acmeEmail: config['acme-email'] || null, acmeDirectory: config['acme-directory'] }
  const provider = settings.acmeEmail === null ? null : createDnsProvider(config)
  const dns = provider && createDnsChallenges({ storage, logger }, { provider, lookup: {} })
  const wildcard = wildcardHostOf(publication, dns !== null)
  const ports = {
    storage,
    logger,
    edge,
    settings,
    internet: openInternet(),
    dns,
    routedHosts: createRoutedHosts(storage, publication, dns !== null),
  }
  const claims = createCertificateClaims({ ...ports, actors })
  return {
    ports,
    authority: () => ({
      directory_url: settings.acmeEmail && settings.acmeDirectory,
      wildcard,
      wildcard_by: config['acme-dns'] === '' ? null : config['acme-dns'].kind,
    }),
    start() {
      const stops = [claims.start(), dns?.startSweep()]
      return () => {
        for (const stop of stops) stop?.()
      }
    },
  }
}
