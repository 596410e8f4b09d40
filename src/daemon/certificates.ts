// Wires certificates: which hosts get one, from which CA, and how they are checked over the internet.

import { readFileSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { createCloudflare } from '../dns/cloudflare.ts'
import { createHook } from '../dns/hook.ts'
import type { DnsProvider } from '../dns/provider.ts'
import { createCertificateClaims, createRoutedHosts, wildcardHostOf } from '../effects/certificate/claims.ts'
import { openInternet } from '../effects/certificate/internet.ts'
import { createDnsChallenges } from '../effects/certificate/order.ts'
import { Failure, messageOf } from '../errors.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
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
      const stops = [claims.start()]
      const stopping = new AbortController()
      // A held server must not remove what another one published.
      storage.hold.released(stopping.signal).then(
        () => void (dns && stops.push(dns.startSweep())),
        () => undefined,
      )
      return () => {
        stopping.abort()
        for (const stop of stops) stop()
      }
    },
  }
}

type DnsConfig = Pick<Config, 'acme-dns' | 'acme-dns-secret-file'>

/** Null without `--acme-dns`. Throws if the secret cannot be read or used, so that a start fails early. */
export function createDnsProvider(config: DnsConfig): DnsProvider | null {
  const { 'acme-dns': settings, 'acme-dns-secret-file': file } = config
  if (settings === '') return null
  if (settings.kind === 'hook') return createHook(settings.path)
  const readToken = () => requireToken(readSecret(file))
  readToken()
  return createCloudflare(readToken)
}

/** The content of the file appears in no message. */
function readSecret(file: string): string {
  if (file === '') {
    throw new Failure('invalid_option', 'this --acme-dns needs a secret: set --acme-dns-secret-file')
  }
  try {
    const secret = readFileSync(file, 'utf8').trim()
    if (secret !== '') return secret
  } catch (error) {
    throw unreadable(messageOf(error))
  }
  throw unreadable(`${file} is empty`)
}

/** Not an invalid option: a file system may be mounted late, and systemd then restarts the server. */
function unreadable(reason: string): Failure {
  return new Failure('secret_unreadable', `--acme-dns-secret-file: ${reason}`)
}

/** Other characters would fail as a header, with a message that shows the token. */
function requireToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new Failure('invalid_option', '--acme-dns-secret-file: a Cloudflare token is one word')
}
