// What the source of a service has now: the commit of its branch or of a tag, or the digest of its image.
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { parseImageReference } from '../../docker/images/image-reference.ts'
import { resolveDigest } from '../../docker/images/pull.ts'
import { Failure } from '../../errors.ts'
import { listBranches, readHead as readHeadOf, readHighestTags } from '../../git/remote.ts'
import { isSameOrigin, parseRepositoryUrl, type RepositoryUrl, repositoryKey } from '../../git/repository.ts'
import type { Tag } from '../../git/tags.ts'
import { accessForService, servingOf } from '../git-connection/service-access.ts'
import type { AutoDeployPorts } from './ports.ts'

export interface Head {
  /** Null as long as no tag matches. */
  version: string | null
  /** Where the repository is by now; null if it is where the service looks. */
  movedTo: string | null
}

/** Throws what a fetch or a pull throws. `marker` marks processes of git. */
export async function readHead(
  ports: AutoDeployPorts,
  service: ServiceRow,
  marker: string,
  signal: AbortSignal,
): Promise<Head> {
  if (service.image !== null)
    return { version: await readDigest(ports, service.image, signal), movedTo: null }
  const { branch, tag_pattern: pattern } = service
  const place = await placeOf(ports, service, marker, signal)
  const { found, repository } = pattern
    ? await readHighestTags(place, pattern)
    : await readBranch(place, branch)
  const version = typeof found === 'string' ? found : (found[0]?.commit ?? null)
  return { version, movedTo: renamedTo(ports.storage, service, repository) }
}

/** The highest tags that a service follows, the highest one first. Throws what a fetch throws. */
export async function readTags(
  ports: AutoDeployPorts,
  service: ServiceRow,
  marker: string,
  signal: AbortSignal,
): Promise<Tag[]> {
  const place = await placeOf(ports, service, marker, signal)
  return (await readHighestTags(place, service.tag_pattern!)).found
}

type Place = Awaited<ReturnType<typeof placeOf>>

async function readBranch(place: Place, branch: string | null) {
  const { found, repository } = await readHeadOf(place, branch)
  if (found !== null) return { found, repository }
  const what = branch === null ? 'its default branch' : `the branch ${branch}`
  const missing = `${what} is not in ${repository.url}: it was deleted or renamed`
  const { defaultBranch } = branch === null ? { defaultBranch: null } : await listBranches(place)
  const hint = defaultBranch === null ? '' : `; its default branch is ${defaultBranch}`
  throw new Failure('source_not_found', `${missing}${hint}`)
}

/**
 * Providers redirect the former address of a repository that was renamed or moved, until another repository
 * takes it. Another server may redirect for other reasons.
 */
function renamedTo(storage: Storage, service: ServiceRow, repository: RepositoryUrl): string | null {
  const known = parseRepositoryUrl(service.repo_url!)
  const isRenamed = isSameOrigin(known, repository) && repositoryKey(known) !== repositoryKey(repository)
  const isServed = [known, repository].every(({ url }) => servingOf(storage, service, url) !== null)
  return isRenamed && isServed ? repository.url : null
}

async function placeOf(ports: AutoDeployPorts, service: ServiceRow, marker: string, signal: AbortSignal) {
  const { localRepositories, gitHosts: hostRules } = ports.settings
  const wanted = parseRepositoryUrl(service.repo_url!)
  const access = await accessForService(ports, service, wanted, { isTrusted: true, signal })
  return { ...access, localRepositories, hostRules, marker, signal }
}

async function readDigest(
  { storage, engine }: AutoDeployPorts,
  image: string,
  signal: AbortSignal,
): Promise<string> {
  const { reference, host } = parseImageReference(image)
  return resolveDigest(engine, { reference, credentials: storage.registries.get(host), signal })
}
