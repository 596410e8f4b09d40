// How a service reads its repository: with the credentials of its own URL or with its deploy key, and else
// with a git connection.
import type { RecordOf } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import type { Credentials } from '../../git/credentials.ts'
import { parseRepositoryUrl, type RepositoryUrl } from '../../git/repository.ts'
import type { SshAccess } from '../../git/ssh.ts'
import { sshAccessOf } from './deploy-keys.ts'
import { listConnections } from './instance.ts'
import type { GitConnectionPorts } from './ports.ts'
import {
  type AccessRequest,
  accessRepository,
  findServing,
  type RepositoryAccess,
  titleOf,
} from './repository-access.ts'

type ServiceAccess = RepositoryAccess & { ssh: SshAccess }

interface ServiceAccessRequest extends Pick<AccessRequest, 'isTrusted' | 'signal'> {
  /** Gets a line about how the repository is read. */
  say?(line: string): void
}

export async function accessForService(
  ports: GitConnectionPorts,
  service: ServiceRow,
  repository: RepositoryUrl,
  { say = () => undefined, ...request }: ServiceAccessRequest,
): Promise<ServiceAccess> {
  const ssh = sshAccessOf(ports.storage, service)
  const own = { repository, credentials: null, connection: null, problem: null, ssh }
  const credentials = credentialsFor(ports, service.id, repository)
  if (credentials) return { ...own, credentials }
  if (repository.kind === 'ssh' && ssh.key) {
    say('reading the repository with the deploy key of the service')
    return own
  }
  if (service.use_git_connection === false) {
    const remedy = `berth update ${service.name} --git-connection on`
    say(`the repository is read without a git connection, as this service is set; ${remedy}`)
    return own
  }
  const { read_with: readWith = null } = service
  const access = { ...(await accessRepository(ports, repository, { ...request, readWith })), ssh }
  if (access.connection === null) return access
  await rememberReader(ports.storage, service, repository, access.connection.id)
  if (access.problem === null) say(`reading the repository with ${titleOf(access.connection)}`)
  else say(`${access.problem}; so the repository is read without one`)
  return access
}

/** Its reports and checks use the same connection. */
async function rememberReader(storage: Storage, service: ServiceRow, repository: RepositoryUrl, id: string) {
  const readWith = service.read_with ?? null
  const isOneOfSeveral = findServing(listConnections(storage), repository, readWith).length > 1
  if (!isOneOfSeveral || readWith === id || !storage.services.get(service.id)) return
  await storage.services.update(service.id, (row) => ({ ...row, read_with: id }))
}

/** The next read tries all connections again. */
export async function forgetReader(storage: Storage, { id }: ServiceRow): Promise<void> {
  if (storage.services.get(id)) await storage.services.update(id, ({ read_with: _, ...row }) => row)
}

interface Serving {
  connection: RecordOf<'git-connection'>
  /** The path of the repository at the provider, as in `ada/shop`. */
  repository: string
  /** False if it may be another one of several: that is known once one has read the repository. */
  isCertain: boolean
}

type ServedService = Pick<ServiceRow, 'id' | 'read_with' | 'use_git_connection'>

/**
 * The connection that reads a repository for the service; null without one. Credentials of the service's own
 * URL come first, so such a service uses no connection.
 */
export function servingOf(
  storage: Storage,
  { id, use_git_connection: usesConnection = true, read_with }: ServedService,
  repoUrl: string | null,
): Serving | null {
  if (repoUrl === null || !usesConnection || storage.credentials.get(id)) return null
  const readWith = read_with ?? null
  const [served, ...others] = findServing(listConnections(storage), parseRepositoryUrl(repoUrl), readWith)
  if (!served) return null
  const { connection, url, isOwner } = served
  const path = url.slice(connection.base_url.length + 1).replace(/(?:\.git)?\/*$/, '')
  const isCertain = others.length === 0 || isOwner || connection.id === readWith
  return { connection, repository: path, isCertain }
}

/** The settings may have moved to another host since the request; credentials are never sent there. */
function credentialsFor(
  { storage }: GitConnectionPorts,
  serviceId: string,
  { url, kind }: RepositoryUrl,
): Credentials | null {
  const stored = storage.credentials.get(serviceId)
  if (!stored || (kind !== 'https' && kind !== 'http') || stored.origin !== new URL(url).origin) return null
  return { username: stored.username, password: stored.password }
}
