// Fetches the source of a deploy: a checkout in the data directory, removed once the image is built.

import { mkdir, realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { DeploySource } from '../../../../machines/deploy/deploy-context.ts'
import type { ServiceRow } from '../../../../storage/services.ts'
import { removeTree } from '../../../archive/removal.ts'
import { maxIgnoreBytes, readBounded } from '../../../docker/dockerfile/ignore-rules.ts'
import { Failure } from '../../../errors.ts'
import { checkoutSource } from '../../../git/checkout.ts'
import type { Credentials } from '../../../git/credentials.ts'
import { reapGit } from '../../../git/process.ts'
import { parseRepositoryUrl, type RepositoryUrl } from '../../../git/repository.ts'
import { providerTitles } from '../../../git-providers/base-url.ts'
import { guardDirectory } from '../../disk/disk.ts'
import {
  accessRepository,
  basePathOf,
  openSubmoduleAccess,
  type RepositoryAccess,
} from '../../git-connection/repository-access.ts'
import type { DeployPhase } from '../phase.ts'
import type { DeployPorts } from '../ports.ts'
import { unpackSource } from './archive.ts'

interface FetchInput {
  source: DeploySource
}

export async function fetchSource(phase: DeployPhase, input: FetchInput) {
  const { ports, id, log, signal } = phase
  if (phase.isRepeated) log.info('fetching starts again: the daemon was restarted')
  await reapGit(id) // of a killed daemon: two gits must not run in one directory
  const guarded = { what: 'a fetch', directory: ports.settings.dataDir }
  return guardDirectory(ports, guarded, signal, (bound) => fetchInto(phase.withSignal(bound), input))
}

async function fetchInto(phase: DeployPhase, { source }: FetchInput) {
  const { ports, id, log } = phase
  const directory = checkoutDirectory(ports, id)
  const fetched =
    source.kind === 'archive'
      ? await unpackSource(phase, source, directory)
      : await checkOut(phase, source, directory)
  if (await usesLfs(directory))
    log.info('the source uses Git LFS: its files are not fetched, the build gets pointers')
  return fetched
}

async function checkOut(phase: DeployPhase, source: DeploySource, directory: string) {
  const { ports, id, log, signal } = phase
  await mkdir(directory, { recursive: true })
  const access = await accessFor(phase, parseRepositoryUrl(source.repo_url!))
  const addedOwners = ports.storage.services.get(phase.serviceId)?.submodule_owners ?? []
  const checkout = await checkoutSource({
    repository: { ...access.repository, credentials: null },
    credentials: access.credentials,
    basePath: basePathOf(access.connection),
    accessSubmodule: openSubmoduleAccess(ports, { ...access, addedOwners, onProblem: log.info }),
    branch: source.branch,
    commit: source.commit,
    directory,
    localRepositories: ports.settings.localRepositories,
    hostRules: ports.settings.gitHosts,
    marker: id,
    onLine: log.info,
    signal,
  })
  if (source.branch === null && checkout.branch !== null)
    await saveDefaultBranch(phase, source, checkout.branch)
  return checkout
}

/** Saves the default branch in the service's settings, because the remote may change its default later. */
async function saveDefaultBranch({ ports, serviceId }: DeployPhase, source: DeploySource, branch: string) {
  const isMatch = (row: ServiceRow | null) => row?.branch === null && row.repo_url === source.repo_url
  const { services } = ports.storage
  if (!isMatch(services.get(serviceId))) return
  await services.update(serviceId, (row) => (isMatch(row) ? { ...row, branch, branch_learnt: true } : row))
}

/** The credentials of the service's own URL come first, then those of a git connection. */
async function accessFor(
  phase: DeployPhase,
  repository: RepositoryUrl,
): Promise<Pick<RepositoryAccess, 'repository' | 'credentials' | 'connection'>> {
  const { ports, log } = phase
  const credentials = credentialsFor(phase, repository)
  if (credentials) return { repository, credentials, connection: null }
  const access = await accessRepository(ports, repository)
  if (access.connection === null) return access
  const { provider, account } = access.connection
  const name = `the ${providerTitles[provider]} connection of ${account}`
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

/** The folder that `root_dir` names. Throws `source_not_found` if it is missing or outside of the source. */
export async function resolveRoot({ ports, id, release }: DeployPhase): Promise<string> {
  const { root_dir } = release.settings
  const root = await resolveInside(checkoutDirectory(ports, id), root_dir ?? '.', 'the root dir')
  if ((await stat(root)).isDirectory()) return root
  throw new Failure('source_not_found', `the root dir ${root_dir} is not a folder`)
}

/** Throws `source_not_found`, with one text for both: links must not show which files the host has. */
export async function resolveInside(checkout: string, path: string, what: string): Promise<string> {
  const root = await realpath(checkout)
  const resolved = await realpath(join(root, path)).catch(() => null)
  if (resolved === null || /^\.\.(\/|$)/.test(relative(root, resolved))) {
    throw new Failure('source_not_found', `${what} ${path} is not in the source`)
  }
  return resolved
}

export function isInside(checkout: string, path: string): Promise<boolean> {
  return resolveInside(checkout, path, '').then(
    () => true,
    () => false,
  )
}

/** Whether git keeps files in Git LFS, of which a checkout has only pointers. */
async function usesLfs(directory: string): Promise<boolean> {
  const file = { name: '.gitattributes', maxBytes: maxIgnoreBytes }
  const attributes = await readBounded(join(directory, file.name), file).catch(() => '')
  return attributes.includes('filter=lfs')
}
