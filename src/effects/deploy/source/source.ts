// Fetches the source of a deploy: a checkout in the data directory, removed once the image is built.

import { join } from 'node:path'
import type { DeploySource } from '../../../../machines/deploy/deploy-context.ts'
import { removeTree } from '../../../archive/removal.ts'
import type { RepositoryUrl } from '../../../git/repository.ts'
import { reapProcesses } from '../../../process-groups.ts'
import { sourceFor } from '../../../sources/index.ts'
import type { GitAccess } from '../../../sources/source.ts'
import { availableBytes, guardDirectory } from '../../disk/disk.ts'
import { basePathOf, openSubmoduleAccess } from '../../git-connection/repository-access.ts'
import { accessForService } from '../../git-connection/service-access.ts'
import type { DeployPhase } from '../phase.ts'
import type { DeployPorts } from '../ports.ts'

interface FetchInput {
  source: DeploySource
}

export async function fetchSource(phase: DeployPhase, input: FetchInput) {
  const { ports, id, log, signal } = phase
  if (phase.isRepeated) log.info('fetching starts again: the daemon was restarted')
  await reapProcesses(id) // of a killed daemon: two gits must not run in one directory
  const guarded = { what: 'a fetch', directory: ports.settings.dataDir }
  return guardDirectory(ports, guarded, signal, (bound) => fetchInto(phase.withSignal(bound), input))
}

async function fetchInto(phase: DeployPhase, { source }: FetchInput) {
  const { ports, id, serviceId, log, signal } = phase
  const directory = checkoutDirectory(ports, id)
  return sourceFor(source).fetch({
    deployId: id,
    serviceId,
    source,
    settings: phase.release.settings,
    tagPattern: phase.service.tag_pattern || null,
    directory,
    storage: ports.storage,
    logger: ports.logger,
    localRepositories: ports.settings.localRepositories,
    hostRules: ports.settings.gitHosts,
    roomBytes: () => availableBytes(ports.settings),
    accessRepository: (repository) => openGitAccess(phase, repository),
    onLine: log.info,
    signal,
  })
}

async function openGitAccess(phase: DeployPhase, wanted: RepositoryUrl): Promise<GitAccess> {
  const { ports, log, service, signal } = phase
  const access = await accessForService(ports, service, wanted, { say: log.info, isTrusted: false, signal })
  const addedOwners = service.submodule_owners ?? []
  return {
    repository: { ...access.repository, credentials: null },
    credentials: access.credentials,
    problem: access.problem,
    ssh: access.ssh,
    basePath: basePathOf(access.connection),
    accessSubmodule: openSubmoduleAccess(ports, { ...access, addedOwners, onProblem: log.info }),
  }
}

export function workDirectory(ports: DeployPorts, deployId: string): string {
  return join(ports.settings.dataDir, 'work', deployId)
}

export function checkoutDirectory(ports: DeployPorts, deployId: string): string {
  return join(workDirectory(ports, deployId), 'source')
}

export async function removeWork(ports: DeployPorts, deployId: string): Promise<void> {
  await removeTree(workDirectory(ports, deployId))
}
