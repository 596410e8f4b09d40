// Decides whether a new head is deployed: once, unless its author asks for no deploy, and only if it changes
// what the service watches.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Decision, Tag, Verdict } from '../../../machines/auto-deploy.ts'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { removeTree } from '../../archive/removal.ts'
import { asksForNoDeploy } from '../../domain/auto-deploys.ts'
import { commitOf } from '../../domain/commit-reports.ts'
import { codeOf } from '../../errors.ts'
import { type PushedChanges, readPushedChanges } from '../../git/pushed-changes.ts'
import { parseRepositoryUrl } from '../../git/repository.ts'
import { reapProcesses } from '../../process-groups.ts'
import { count } from '../../quantities.ts'
import { read } from '../../readers/read.ts'
import { guardDirectory } from '../disk/disk.ts'
import { accessForService } from '../git-connection/service-access.ts'
import { waitForCommit } from '../waiting.ts'
import { baseOf, isUnfinished, isUnread, newestAttempt, versionOf } from './attempts.ts'
import { readTags } from './head.ts'
import { type Places, sharedKey } from './places.ts'
import type { AutoDeployPorts } from './ports.ts'

interface HeadInput {
  id: string
  serviceId: string
  head: string
  /** The newest about this source; null before the first. */
  decision: Decision | null
  /** Whether it came after the service began to follow this source. */
  isPush: boolean
}

type Decided = Omit<Verdict, 'at'>

export const outdated: Decided = { deployId: null, reason: '', isOutdated: true, tags: [], reliesOn: null }

/** Throws what a fetch throws. */
export async function decide(
  ports: AutoDeployPorts,
  places: Places,
  { id, serviceId, head, decision, isPush }: HeadInput,
  signal: AbortSignal,
): Promise<Decided> {
  const { storage } = ports
  const service = storage.services.get(serviceId)
  if (!service || service.deleting) return outdated
  const newest = newestAttempt(storage, serviceId)
  if (newest !== null && isUnknown(newest)) {
    await waitForCommit(storage.changes, serviceId, signal, () => {
      const now = storage.actors.record<'deploy'>(newest.id)
      return now !== null && isUnknown(now) ? null : true
    })
    return outdated
  }
  const tags = await tagsOf(ports, places, service, id, signal)
  const [tag] = tags
  if (service.tag_pattern && tag?.commit !== head) return outdated
  const decided = { isOutdated: false, tags, reliesOn: null }
  const noDeploy = (reason: string): Decided => ({ ...decided, deployId: null, reason })
  const same = newest !== null && versionOf(newest) === head ? newest : null
  if (same !== null && !isUnread(same)) return noDeploy(`${same.id} has this version`)
  if (newest === null && !isPush && deliveriesOf(storage, serviceId, head).length === 0)
    return noDeploy(`it was there before the service; berth deploy ${service.name} deploys it`)
  // Its version would have been this one.
  if (decision === null && newest !== null && hasWithdrawn(newest, service))
    return noDeploy(`${newest.id} was canceled`)
  const [former, ...lower] = decision?.tags ?? []
  if (lower.some(({ name, commit }) => name === tag?.name && commit === head))
    return noDeploy(`${former!.name} was deleted, which takes nothing back`)
  const news = tag ? `${tag.name} is the highest tag` : newsOfBranch(storage, serviceId, head)
  const {
    isSkipped,
    reason,
    reliesOn = null,
  } = service.image === null ? await judgePush(ports, places, service, { id, head, news }, signal) : movedTag
  if (isSkipped) return { ...noDeploy(reason), reliesOn }
  const deployId = storage.ids.newId('dep')
  return { ...decided, deployId, reason: same ? `${same.id} could not read it` : reason }
}

/** Empty if the service follows none. */
async function tagsOf(
  ports: AutoDeployPorts,
  places: Places,
  service: ServiceRow,
  marker: string,
  signal: AbortSignal,
): Promise<Tag[]> {
  const { tag_pattern: pattern } = service
  if (!pattern) return []
  const key = sharedKey(ports.storage, service, 'tags', pattern)
  return places(service, { key, signal }, () => readTags(ports, service, marker, signal))
}

/** A user canceled it before it had a version. */
function hasWithdrawn(deploy: RecordOf<'deploy'>, { repo_url, branch, image }: ServiceRow): boolean {
  const { error_code, source } = deploy
  if (error_code !== 'canceled' || versionOf(deploy) !== null) return false
  return source.repo_url === repo_url && (source.branch ?? branch) === branch && source.image === image
}

/** It takes the version that the source has when it runs, which may be newer than the one that was found. */
function isUnknown(deploy: RecordOf<'deploy'>): boolean {
  return isUnfinished(deploy) && versionOf(deploy) === null
}

/** The provider has reported its push. */
function deliveriesOf({ hookDeliveries }: Storage, serviceId: string, head: string) {
  const open = hookDeliveries.openOf(serviceId).map((id) => hookDeliveries.get(id))
  return open.filter((delivery) => delivery?.after === head)
}

function newsOfBranch(storage: Storage, serviceId: string, head: string): string {
  const isForced = deliveriesOf(storage, serviceId, head).some((delivery) => delivery?.forced === true)
  return isForced ? 'a forced push gave the branch another head' : 'the branch has a new head'
}

interface Judgement {
  isSkipped: boolean
  reason: string
  /** A deploy that brings what is watched. If it fails, nothing has brought it. */
  reliesOn?: string
}

const movedTag: Judgement = { isSkipped: false, reason: 'the tag has another image' }

async function judgePush(
  ports: AutoDeployPorts,
  places: Places,
  service: ServiceRow,
  { id, head, news }: Pick<HeadInput, 'id' | 'head'> & { news: string },
  signal: AbortSignal,
): Promise<Judgement> {
  const { watch_paths: watched } = service
  const former = watched.length === 0 ? null : baseOf(ports.storage, service)
  const base = former && commitOf(former)
  const key = sharedKey(ports.storage, service, 'changes', head, base)
  const { message, paths } = await places(service, { key, signal }, () =>
    readChanges(ports, service, { id, head, base }, signal),
  )
  if (asksForNoDeploy(message, service.skip_ci === true))
    return { isSkipped: true, reason: 'its message asks for no deploy' }
  if (watched.length === 0) return { isSkipped: false, reason: news }
  const path = paths && (await firstWatched(service, paths, signal))
  if (path === undefined || paths === null) {
    const unknown = 'which of its files are watched is unknown, so it is deployed'
    return { isSkipped: false, reason: unknown }
  }
  if (path !== null) return { isSkipped: false, reason: `it changes ${path}` }
  return {
    isSkipped: true,
    reason: `it changes nothing that is watched, only ${count(paths.length, 'other file')}`,
    ...(former && isUnfinished(former) && { reliesOn: former.id }),
  }
}

/** Null without one; undefined if finding it takes too long. */
async function firstWatched(
  { id: owner, watch_paths: patterns }: ServiceRow,
  paths: string[],
  signal: AbortSignal,
) {
  try {
    return await read('firstWatchedPath', { patterns, paths }, { owner, signal })
  } catch (error) {
    if (codeOf(error) === 'too_complex') return undefined
    throw error
  }
}

async function readChanges(
  ports: AutoDeployPorts,
  service: ServiceRow,
  { id, head, base }: { id: string; head: string; base: string | null },
  signal: AbortSignal,
): Promise<PushedChanges> {
  const { dataDir, deployLimits, localRepositories, gitHosts: hostRules } = ports.settings
  const directory = join(dataDir, 'work', id)
  await reapProcesses(id) // of a killed daemon: two gits must not run in one directory
  await mkdir(directory, { recursive: true })
  const within = AbortSignal.any([signal, AbortSignal.timeout(deployLimits.fetchMs)])
  const wanted = parseRepositoryUrl(service.repo_url!)
  const access = await accessForService(ports, service, wanted, { isTrusted: true, signal: within })
  const place = { ...access, directory, localRepositories, hostRules, marker: id }
  try {
    return await guardDirectory(ports, { what: 'a fetch', directory: dataDir }, within, (bound) =>
      readPushedChanges({ ...place, signal: bound }, { head, base }),
    )
  } finally {
    await removeTree(directory)
  }
}
