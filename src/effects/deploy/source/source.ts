// Fetches the source of a deploy: a checkout in the data directory, removed once the image is built.

import { join } from 'node:path'
import type { DeploySource } from '../../../../machines/deploy/deploy-context.ts'
import { removeTree } from '../../../archive/removal.ts'
import { maxIgnoreBytes, readBounded } from '../../../docker/dockerfile/ignore-rules.ts'
import type { Credentials } from '../../../git/credentials.ts'
import type { RepositoryUrl } from '../../../git/repository.ts'
import { reapProcesses } from '../../../process-groups.ts'
import { sourceFor } from '../../../sources/index.ts'
import type { GitAccess } from '../../../sources/source.ts'
import { availableBytes, guardDirectory } from '../../disk/disk.ts'
import {
  accessRepository,
  basePathOf,
  openSubmoduleAccess,
  type RepositoryAccess,
  titleOf,
} from '../../git-connection/repository-access.ts'
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
  const fetched = await sourceFor(source).fetch({
    deployId: id,
    serviceId,
    source,
    settings: phase.release.settings,
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
  if (await usesLfs(directory))
    log.info('the source uses Git LFS: its files are not fetched, the build gets pointers')
  return fetched
}

async function openGitAccess(phase: DeployPhase, wanted: RepositoryUrl): Promise<GitAccess> {
  const { ports, log, serviceId } = phase
  const access = await accessFor(phase, wanted)
  const addedOwners = ports.storage.services.get(serviceId)?.submodule_owners ?? []
  return {
    repository: { ...access.repository, credentials: null },
    credentials: access.credentials,
    basePath: basePathOf(access.connection),
    accessSubmodule: openSubmoduleAccess(ports, { ...access, addedOwners, onProblem: log.info }),
  }
}

/** The credentials of the service's own URL come first, then those of a git connection. */
async function accessFor(
  phase: DeployPhase,
  repository: RepositoryUrl,
): Promise<Pick<RepositoryAccess, 'repository' | 'credentials' | 'connection'>> {
  const { ports, log } = phase
  const credentials = credentialsFor(phase, repository)
  if (credentials) return { repository, credentials, connection: null }
  const { service } = phase
  if (service.use_git_connection === false) {
    const remedy = `berth update ${service.name} --git-connection on`
    log.info(`the repository is read without a git connection, as this service is set; ${remedy}`)
    return { repository, credentials: null, connection: null }
  }
  const access = await accessRepository(ports, repository)
  if (access.connection === null) return access
  const name = titleOf(access.connection)
  if (access.problem === null) log.info(`reading the repository with ${name}`)
  else log.info(`${name} supplied no token, so the repository is read without one: ${access.problem}`)
  return access
}

/** The settings may have moved to another host since the request; credentials are never sent there. */
function credentialsFor({ ports, serviceId }: DeployPhase, { url, kind }: RepositoryUrl): Credentials | null {
  const stored = ports.storage.credentials.get(serviceId)
  if (!stored || (kind !== 'https' && kind !== 'http') || stored.origin !== new URL(url).origin) return null
  return { username: stored.username, password: stored.password }
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

/** Whether git keeps files in Git LFS, of which a checkout has only pointers. */
async function usesLfs(directory: string): Promise<boolean> {
  const file = { name: '.gitattributes', maxBytes: maxIgnoreBytes }
  const attributes = await readBounded(join(directory, file.name), file).catch(() => '')
  return attributes.includes('filter=lfs')
}
