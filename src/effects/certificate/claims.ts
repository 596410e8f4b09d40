// Who gets a certificate: every routed public host of a service that has been live, one actor each.
// Calls run one after the other, or one host would get two actors.
import { SharedRounds } from '../../async/shared-rounds.ts'
import { isPublicHost } from '../../domain/domains.ts'
import { isoNow } from '../iso-now.ts'
import type { ClaimPorts } from './ports.ts'
import { ordersCertificates } from './routed-hosts.ts'

export interface CertificateClaims {
  /** Resolves when every host that needs a certificate has its actor; at once without an e-mail address. */
  ensure(): Promise<void>
  /**
   * Runs now and after each relevant change, until the returned function is called. Actors are restored
   * before the first run.
   */
  start(): () => void
}

export function createCertificateClaims(ports: ClaimPorts): CertificateClaims {
  const rounds = new SharedRounds(() => ensureCertificates(ports))
  const ensureQuietly = () =>
    void rounds
      .run()
      .catch((error: unknown) => ports.logger.error({ err: error }, 'certificates could not be requested'))

  return {
    ensure: () => rounds.run(),
    start() {
      ensureQuietly()
      return ports.storage.changes.subscribe(({ kind, service_id }) => {
        // Hosts need their own certificates while the server's wildcard cannot be issued.
        if (kind === 'service' || (kind === 'certificate' && !service_id)) ensureQuietly()
      })
    },
  }
}

async function ensureCertificates(ports: ClaimPorts): Promise<void> {
  if (ports.settings.acmeEmail === null) return
  const services = ports.storage.services.list().filter(ordersCertificates)
  for (const serviceId of [null, ...services.map(({ id }) => id)]) {
    const claimed = claimedHosts(ports, serviceId)
    const publicHosts = new Set(ports.routedHosts(serviceId).filter(isPublicHost))
    for (const name of publicHosts) if (!claimed.has(name)) await claim(ports, serviceId, name)
  }
}

function claimedHosts({ storage }: ClaimPorts, serviceId: string | null): Set<unknown> {
  const actors = storage.actors.active('certificate', serviceId ?? '')
  const records = [...actors].map(({ id }) => storage.actors.record(id))
  // A certificate that is being released no longer claims its host.
  return new Set(records.filter((one) => one?.status !== 'released').map((one) => one?.host))
}

async function claim({ storage, actors }: ClaimPorts, serviceId: string | null, host: string): Promise<void> {
  const id = storage.ids.newId('crt')
  await actors.spawn('certificate', id, { id, serviceId, host, at: isoNow() })
}
