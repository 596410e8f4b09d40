// Wires everything that the HTTP layer gets from the daemon.
import type { AccountPorts } from '../account/ports.ts'
import { type Config, parseListen } from '../config/config.ts'
import { diskName } from '../docker/engine/names.ts'
import { parseImageReference, parseRegistryHost } from '../docker/images/image-reference.ts'
import { guardDirectory } from '../effects/disk/disk.ts'
import { openFiles } from '../effects/files.ts'
import { openDeployKeys } from '../effects/git-connection/deploy-keys.ts'
import { openGitAccounts } from '../effects/git-connection/git-accounts.ts'
import { openShells } from '../effects/shells.ts'
import { typed } from '../git/repository.ts'
import { openDashboard } from '../http/pages/dashboard.ts'
import type { HttpContext } from '../http/pipeline/context.ts'
import { createHostCheck, createProxyTrust } from '../http/pipeline/origin.ts'
import { createRecoveryKey, readRecipient } from '../server-backup/keys.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { version } from '../version.ts'
import { createDoctor } from './doctor.ts'
import { createObserver } from './observer.ts'
import type { Ports } from './ports.ts'

interface Parts {
  supervisor: Supervisor
  account: AccountPorts
  ready: () => boolean
  alerts: { addresses: { note: HttpContext['noteUse'] } }
  edge: { secret: HttpContext['edgeSecret'] }
  certificates: { authority: HttpContext['certificateAuthority'] }
}

const parse: HttpContext['parse'] = {
  ...typed,
  image: (text) => parseImageReference(text).reference,
  registryHost: parseRegistryHost,
}

export function httpContext(config: Config, ports: Ports, parts: Parts): HttpContext {
  const { limits } = ports.buildGuard
  return {
    version,
    config: {
      ...ports.settings,
      prefix: config.prefix,
      edge: ports.publication.edge,
      builds: {
        builder: config.builder,
        memory_limit_mb: limits.memoryMb,
        cpu_limit: limits.cpus,
        pids_limit: limits.pids,
        get limits_in_force() {
          return ports.buildGuard.notEnforcedReason === null
        },
        get limits_reason() {
          return ports.buildGuard.notEnforcedReason
        },
        cache_size_mb: config['build-cache-size'] || null,
      },
    },
    allowedHosts: createHostCheck([parseListen(config.listen).name, config['dashboard-host']]),
    isTrustedProxy: createProxyTrust(config['trusted-proxy']),
    noteUse: (caller, address) => parts.alerts.addresses.note(caller, address),
    edgeSecret: parts.edge.secret,
    certificateAuthority: parts.certificates.authority,
    firstRecoveryKey: async () => {
      const { dataDir } = ports.settings
      return readRecipient(dataDir) === null ? (await createRecoveryKey(dataDir)).key : null
    },
    ...parts.account,
    ready: parts.ready,
    storage: ports.storage,
    actors: parts.supervisor,
    observe: createObserver(ports),
    doctor: createDoctor(config, ports),
    files: openFiles(ports),
    shells: openShells(ports),
    backupPlaces: ports.places,
    serverBackups: ports.serverBackups,
    git: openGitAccounts(ports),
    deployKeys: openDeployKeys(ports.storage),
    parse,
    dashboard: openDashboard(),
    traffic: config.edge === 'off' ? null : ports.traffic,
    diskOf: (service) => diskName(ports.owner, service),
    hasCertificate: ports.publication.hasCertificate,
    whileDiskHasRoom: (what, work) => {
      const guarded = { what, directory: ports.settings.dataDir }
      return guardDirectory(ports, guarded, new AbortController().signal, work)
    },
  }
}
