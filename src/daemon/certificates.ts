// Wires certificates: which hosts get one, from which CA, and how they are checked over the internet.
import type { Config } from '../config/config.ts'
import { createCertificateClaims } from '../effects/certificate/claims.ts'
import { createDnsChallenges } from '../effects/certificate/dns-challenge.ts'
import { openInternet } from '../effects/certificate/internet.ts'
import type { CertificatePorts } from '../effects/certificate/ports.ts'
import { createRoutedHosts, wildcardHostOf } from '../effects/certificate/routed-hosts.ts'
import { openWeeklyLimit } from '../effects/certificate/weekly-limit.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { createDnsProvider } from './dns.ts'
import type { Ports } from './ports.ts'

const letsEncrypt = 'acme-v02.api.letsencrypt.org'
/** The CA's limit of new certificates per registered domain. */
const letsEncryptPerWeek = 50

export function createCertificates(
  config: Config,
  { storage, logger, edge, publication }: Ports,
  actors: Supervisor,
) {
  const settings = settingsOf(config)
  const provider = settings.acmeEmail === null ? null : createDnsProvider(config)
  const dns = provider && createDnsChallenges({ storage, logger }, { provider, lookup: {} })
  const wildcard = wildcardHostOf(publication, dns !== null)
  const ports = {
    storage,
    logger,
    edge,
    settings,
    internet: openInternet(),
    weeklyLimit: openWeeklyLimit({ settings, storage }),
    dns,
    routedHosts: createRoutedHosts(storage, publication, dns !== null),
  }
  const claims = createCertificateClaims({ ...ports, actors })
  return {
    ports,
    authority: () => ({
      ...toAuthority(ports),
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

function toAuthority({ settings, weeklyLimit }: CertificatePorts) {
  return {
    directory_url: settings.acmeEmail && settings.acmeDirectory,
    weekly_limit: settings.newPerWeek,
    domains: weeklyLimit
      .list()
      .map(({ nextOrderAt, ...usage }) => ({ ...usage, next_order_at: nextOrderAt })),
  }
}

function settingsOf(config: Config): CertificatePorts['settings'] {
  const acmeDirectory = config['acme-directory']
  const configured = config['acme-weekly-limit']
  const standard = new URL(acmeDirectory).hostname === letsEncrypt ? letsEncryptPerWeek : 0
  return {
    acmeEmail: config['acme-email'] || null,
    acmeDirectory,
    newPerWeek: (configured === '' ? standard : configured) || null,
  }
}
