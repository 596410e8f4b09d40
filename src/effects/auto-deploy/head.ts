// What the source of a service has now: the commit of its branch or of a tag, or the digest of its image.
import type { ServiceRow } from '../../../storage/services.ts'
import { parseImageReference } from '../../docker/images/image-reference.ts'
import { resolveDigest } from '../../docker/images/pull.ts'
import { Failure } from '../../errors.ts'
import { readHead as readHeadOf, readHighestTags, type Tag } from '../../git/remote.ts'
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
  if (service.image !== null) return readDigest(ports, service.image, signal)
  return service.tag_pattern
    ? readTags(ports, service, marker, signal).then(([highest]) => highest?.commit ?? null)
    : readCommit(ports, service, marker, signal)
}

/** The highest tags that a service follows, the highest one first. Throws what a fetch throws. */
export async function readTags(
  ports: AutoDeployPorts,
  service: ServiceRow,
  marker: string,
  signal: AbortSignal,
): Promise<Tag[]> {
  const place = await placeOf(ports, service, marker, signal)
  return readHighestTags(place, service.tag_pattern!)
}

async function readCommit(
  ports: AutoDeployPorts,
  service: ServiceRow,
  marker: string,
  signal: AbortSignal,
): Promise<string> {
  const { branch } = service
  const place = await placeOf(ports, service, marker, signal)
  const head = await readHeadOf(place, branch)
  if (head !== null) return head
  const what = branch === null ? 'its default branch' : `the branch ${branch}`
  const where = parseRepositoryUrl(service.repo_url!).url
  throw new Failure('source_not_found', `${what} is not in ${where}: it was deleted or renamed`)
}

async function placeOf(ports: AutoDeployPorts, service: ServiceRow, marker: string, signal: AbortSignal) {
  const { localRepositories, gitHosts: hostRules } = ports.settings
  const wanted = parseRepositoryUrl(service.repo_url!)
  const access = await accessForService(ports, service, wanted, () => undefined)
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
