// Wires what the HTTP layer gets from the daemon, and all it gets.
import type { AccountPorts } from '../account/ports.ts'
import { type Config, parseListen } from '../config/config.ts'
import { volumeName } from '../docker/engine/names.ts'
import { parseImageReference, parseRegistryHost } from '../docker/images/image-reference.ts'
import { openClients } from '../effects/datastore/clients.ts'
import { whileRoomIn } from '../effects/disk/disk.ts'
import type { Host } from '../effects/host.ts'
import { typed } from '../git/typed.ts'
import type { HttpContext } from '../http/pipeline/context.ts'
import { createHostCheck, createProxyTrust } from '../http/pipeline/trusted-hosts.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { version } from '../version.ts'
import { createObserver } from './observer.ts'

interface Parts {
  supervisor: Supervisor
  account: AccountPorts
  ready: () => boolean
  edge: { secret: HttpContext['edgeSecret'] }
  certificates: { authority: HttpContext['certificateAuthority'] }
}

export function httpContext(config: Config, host: Host, parts: Parts): HttpContext {
  return {
    version,
    config: {
      baseDomain: config['base-domain'],
      edge: host.publication.edge,
      defaultMemoryLimitMb: config['default-memory-limit'],
      defaultCpuLimit: config['default-cpu-limit'],
      minFreeDiskMb: config['min-free-disk'],
      keepImages: config['keep-images'],
      datastoreBind: config['datastore-bind'],
      builds: {
        builder: config.builder,
        limits: host.buildGuard.limits,
        whyNotLimited: host.buildGuard.whyNot,
        cacheSizeMb: config['build-cache-size'] || null,
      },
      dataDir: host.settings.dataDir,
      trashDays: config['trash-days'],
      backupDir: host.settings.backupDir,
      deployLimits: {
        fetchMs: config['fetch-timeout'] * 1000,
        buildMs: config['build-timeout'] * 1000,
        startMs: config['start-timeout'] * 1000,
      },
    },
    allowedHosts: createHostCheck([parseListen(config.listen).name, config['dashboard-host']]),
    isTrustedProxy: createProxyTrust(config['trusted-proxy']),
    edgeSecret: parts.edge.secret,
    certificateAuthority: parts.certificates.authority,
    ...parts.account,
    ready: parts.ready,
    storage: host.storage,
    actors: parts.supervisor,
    observe: createObserver(host),
    clients: openClients(host),
    parse: {
      ...typed,
      image: (text) => parseImageReference(text).reference,
      registryHost: parseRegistryHost,
    },
    traffic: config.edge === 'off' ? null : host.traffic,
    diskOf: (serviceId) => volumeName(host.owner, serviceId),
    hasCertificate: host.publication.hasCertificate,
    whileRoom: (what, work) => {
      const place = { what, directory: host.settings.dataDir }
      return whileRoomIn(host, place, new AbortController().signal, work)
    },
  }
}
