// What the source of a service has now: the commit of its branch or of a tag, or the digest of its image.
import type { ServiceRow } from '../../../storage/services.ts'
import { parseImageReference } from '../../docker/images/image-reference.ts'
import { resolveDigest } from '../../docker/images/pull.ts'
import { Failure } from '../../errors.ts'
import { readHead as readHeadOf, readHighestTag } from '../../git/remote.ts'
import { parseRepositoryUrl } from '../../git/repository.ts'
import { accessForService } from '../git-connection/service-access.ts'
import type { AutoDeployPorts } from './ports.ts'

/** Null as long as no tag matches. Throws what a fetch or a pull throws. `marker` marks processes of git. */
export function readHead(
  ports: AutoDeployPorts,
  service: ServiceRow,
  marker: string,
  signal: AbortSignal,
): Promise<string | null> {
  return service.image === null
    ? readCommit(ports, service, marker, signal)
    : readDigest(ports, service.image, signal)
}

async function readCommit(
  ports: AutoDeployPorts,
  service: ServiceRow,
  marker: string,
  signal: AbortSignal,
): Promise<string | null> {
  const { localRepositories, gitHosts: hostRules } = ports.settings
  const { branch, tag_pattern: pattern = null } = service
  const wanted = parseRepositoryUrl(service.repo_url!)
  const access = await accessForService(ports, service, wanted, () => undefined)
  const place = { ...access, localRepositories, hostRules, marker, signal }
  const head = await (pattern === null ? readHeadOf(place, branch) : readHighestTag(place, pattern))
  if (head !== null || pattern !== null) return head
  const what = branch === null ? 'its default branch' : `the branch ${branch}`
  throw new Failure('source_not_found', `${what} is not in ${wanted.url}: it was deleted or renamed`)
}

async function readDigest(
  { storage, engine }: AutoDeployPorts,
  image: string,
  signal: AbortSignal,
): Promise<string> {
  const { reference, host } = parseImageReference(image)
  return resolveDigest(engine, { reference, credentials: storage.registries.get(host), signal })
}
