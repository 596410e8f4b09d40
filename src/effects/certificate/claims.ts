// Who gets a certificate: every routed public host of a service that has been live, one actor each.
// Calls run one after the other, or one host would get two actors.

import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { SharedRounds } from '../../async/shared-rounds.ts'
import { isPublicHost, type Publication, servedHostsOf, wildcardOf } from '../../domain/domains.ts'
import { isoNow } from '../iso-now.ts'
import type { ClaimPorts } from './order.ts'

interface CertificateClaims {
  /** Resolves when every host that needs a certificate has its actor; at once without an e-mail address. */
  ensure(): Promise<void>
  /** Runs now and after each relevant change. Actors are restored before the first run. */
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

interface Parts {
  actors: Pick<Storage['actors'], 'active' | 'record'>
  services: Pick<Storage['services'], 'get' | 'list'>
  certificates: Pick<Storage['certificates'], 'isValid'>
}

/**
 * The hosts of a service, or with null those of the server itself. A service that is being deleted has none.
 * A wildcard of the base domain replaces the hosts below it; a host keeps its certificate until the wildcard
 * is installed. While the wildcard cannot be issued, the hosts below it need their own. A wildcard that is no
 * longer configured stays until each host below it has a certificate, or until it expires.
 */
export function createRoutedHosts(
  { actors, services, certificates }: Parts,
  publication: Publication,
  hasWildcard = false,
): (serviceId: string | null) => string[] {
  const { mode, dashboardHost } = publication.edge
  const wildcard = wildcardHostOf(publication, true)
  const isBelow = (host: string) => wildcard !== null && wildcardOf(host) === wildcard
  const isFailing = () => {
    const records = [...actors.active('certificate', '')].map(({ id }) => actors.record(id))
    return records.some((one) => one?.host === wildcard && one.fallback === true)
  }
  const isReplaced = (host: string) =>
    hasWildcard &&
    isBelow(host) &&
    (certificates.isValid(wildcard!) || !(certificates.isValid(host) || isFailing()))
  const hostsOf = (serviceId: string | null) => {
    if (serviceId === null) return mode === 'off' || dashboardHost === null ? [] : [dashboardHost]
    const row = services.get(serviceId)
    return row && !row.deleting ? servedHostsOf(row, publication) : []
  }
  const isLacking = (serviceId: string | null) =>
    hostsOf(serviceId).some((host) => isBelow(host) && !certificates.isValid(host))
  const isLastResort = () =>
    certificates.isValid(wildcard!) &&
    (isLacking(null) || services.list().some((row) => ordersCertificates(row) && isLacking(row.id)))
  return (serviceId) => {
    const ownHosts = hostsOf(serviceId).filter((host) => !isReplaced(host))
    const isWanted = serviceId === null && wildcard !== null && (hasWildcard || isLastResort())
    return isWanted ? [...ownHosts, wildcard] : ownHosts
  }
}

/** Authorities count certificates per week: a service that never worked must not use them up. */
function ordersCertificates({ deleting, live_deploy_id }: ServiceRow): boolean {
  return !deleting && live_deploy_id !== null
}

/** Null if no authority would sign it, or no host would use it. */
export function wildcardHostOf({ baseDomain, edge }: Publication, hasWildcard: boolean): string | null {
  return hasWildcard && edge.mode !== 'off' && isPublicHost(baseDomain) ? `*.${baseDomain}` : null
}
