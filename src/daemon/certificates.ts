// Wires certificates: who gets one, from whom, and by which way over the internet it is looked at.
import type { Config } from '../config.ts'
import type { CertificateClaims } from '../effects/certificate/claims.ts'
import { createCertificateClaims } from '../effects/certificate/claims.ts'
import { openInternet } from '../effects/certificate/internet.ts'
import type { CertificateHost } from '../effects/certificate/ports.ts'
import { createRoutedHosts } from '../effects/certificate/routed-hosts.ts'
import { openWeeklyLimit } from '../effects/certificate/weekly-limit.ts'
import type { Host } from '../effects/host.ts'
import type { CertificateAuthority } from '../http/schemas/certificate.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'

const letsEncrypt = 'acme-v02.api.letsencrypt.org'
/** Its limit of new certificates per registered domain. */
const letsEncryptPerWeek = 50

export function certificatesOf(
  config: Config,
  { storage, logger, edge, publication }: Host,
  actors: Supervisor,
): { host: CertificateHost; claims: CertificateClaims; authority: () => CertificateAuthority } {
  const settings = settingsOf(config)
  const host = {
    storage,
    logger,
    edge,
    settings,
    internet: openInternet(),
    weeklyLimit: openWeeklyLimit({ settings, storage }),
    routedHosts: createRoutedHosts(storage, publication),
  }
  const claims = createCertificateClaims({ ...host, actors })
  return { host, claims, authority: () => toAuthority(host) }
}

function toAuthority({ settings, weeklyLimit }: CertificateHost): CertificateAuthority {
  return {
    directory_url: settings.acmeEmail && settings.acmeDirectory,
    weekly_limit: settings.newPerWeek,
    domains: weeklyLimit
      .list()
      .map(({ nextOrderAt, ...usage }) => ({ ...usage, next_order_at: nextOrderAt })),
  }
}

function settingsOf(config: Config): CertificateHost['settings'] {
  const acmeDirectory = config['acme-directory']
  const standard = new URL(acmeDirectory).hostname === letsEncrypt ? letsEncryptPerWeek : 0
  return {
    acmeEmail: config['acme-email'] || null,
    acmeDirectory,
    newPerWeek: (config['acme-weekly-limit'] ?? standard) || null,
  }
}
