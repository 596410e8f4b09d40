// Fetching the source of a deploy: a checkout in the data directory, gone again when the image is built.
import { access, mkdir, realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { DeploySource } from '../../../../machines/deploy/deploy-context.ts'
import type { ServiceRow, ServiceSettings } from '../../../../storage/services.ts'
import { removeTree } from '../../../archive/removal.ts'
import { Failure } from '../../../errors.ts'
import { checkoutSource } from '../../../git/checkout.ts'
import type { Credentials } from '../../../git/credentials.ts'
import { reapGit } from '../../../git/reaper.ts'
import { parseRepositoryUrl, type RepositoryUrl } from '../../../git/repository.ts'
import { whileRoomIn } from '../../disk/disk.ts'
import { type Host, isoNow } from '../../host.ts'
import { type DeployLog, isBegunAgain, openDeployLog } from '../log.ts'
import { unpackSource } from './archive.ts'
import { sayLfsPointers } from './lfs.ts'

type FetchInput = { id: string; serviceId: string; source: DeploySource }

export function fetchSource(host: Host) {
  return async (input: FetchInput, signal: AbortSignal) => {
    const log = openDeployLog(host, input.id)
    if (isBegunAgain(host, input.id)) log.say('fetching starts again: the daemon was restarted')
    await reapGit(input.id) // of a killed daemon: two gits must not run in one directory
    const place = { what: 'a fetch', directory: host.settings.dataDir }
    const found = await whileRoomIn(host, place, signal, (bound) => fetchInto(host, input, log, bound))
    await sayLfsPointers(checkoutDirectory(host, input.id), log)
    return { ...found, at: isoNow() }
  }
}

async function fetchInto(host: Host, input: FetchInput, log: DeployLog, signal: AbortSignal) {
  const { id, serviceId, source } = input
  const directory = checkoutDirectory(host, id)
  if (source.kind === 'archive') {
    return unpackSource(host, { id, serviceId, source, directory }, log, signal)
  }
  await mkdir(directory, { recursive: true })
  const repository = parseRepositoryUrl(source.repo_url!)
  const found = await checkoutSource({
    repository: { ...repository, credentials: null },
    credentials: credentialsFor(host, serviceId, repository),
    branch: source.branch,
    commit: source.commit,
    directory,
    localRepositories: host.settings.localRepositories,
    hostRules: { denyPrivateHosts: host.settings.denyPrivateGitHosts },
    marker: id,
    onLine: log.say,
    signal,
  })
  if (source.branch === null && found.branch !== null) await keepBranch(host, input, found.branch)
  return found
}

/** A default branch stays the service's own: the remote may name another one later. */
async function keepBranch(host: Host, { serviceId, source }: FetchInput, branch: string): Promise<void> {
  const isMeant = (row: ServiceRow | null) => row?.branch === null && row.repo_url === source.repo_url
  const { services } = host.storage
  if (!isMeant(services.get(serviceId))) return
  await services.update(serviceId, (row) => (isMeant(row) ? { ...row, branch, branch_learnt: true } : row))
}

/**
 * Settings may have moved to another host since this deploy was asked for; its credentials stay where they
 * belong.
 */
function credentialsFor(host: Host, serviceId: string, { url, kind }: RepositoryUrl): Credentials | null {
  const stored = host.storage.credentials.get(serviceId)
  if (!stored || (kind !== 'https' && kind !== 'http') || stored.origin !== new URL(url).origin) return null
  return { username: stored.username, password: stored.password }
}

/** What a deploy keeps in the data directory while it works. */
export function workDirectory(host: Host, deployId: string): string {
  return join(host.settings.dataDir, 'work', deployId)
}

export function checkoutDirectory(host: Host, deployId: string): string {
  return join(workDirectory(host, deployId), 'source')
}

/** Files of ours for a build, beside the checkout: nothing of the source can lead there or be in the way. */
export function generatedDirectory(host: Host, deployId: string): string {
  return join(workDirectory(host, deployId), 'generated')
}

export async function removeWork(host: Host, deployId: string): Promise<void> {
  await removeTree(workDirectory(host, deployId))
}

/** The folder that `root_dir` names. Throws `source_not_found` when there is none, or it leads out. */
export async function resolveRoot(
  host: Host,
  deployId: string,
  { root_dir }: Pick<ServiceSettings, 'root_dir'>,
): Promise<string> {
  const root = await resolveInside(checkoutDirectory(host, deployId), root_dir ?? '.', 'root_dir')
  if ((await stat(root)).isDirectory()) return root
  throw new Failure('source_not_found', `root_dir ${root_dir} is not a folder`)
}

/** A path inside the checkout, links followed. Throws `source_not_found` when it is missing or leads out. */
export async function resolveInside(checkout: string, path: string, what: string): Promise<string> {
  const root = await realpath(checkout)
  const resolved = await realpath(join(root, path)).catch(() => null)
  if (resolved === null) throw new Failure('source_not_found', `${what} ${path} is not in the source`)
  const inside = relative(root, resolved)
  if (inside === '..' || inside.startsWith('../')) {
    throw new Failure('source_not_found', `${what} ${path} leads out of the source`)
  }
  return resolved
}

export function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
